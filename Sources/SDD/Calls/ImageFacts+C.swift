public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_probe") @implementation
public func sdd_image_probe(
    _ bytes: UnsafeRawPointer?, _ size: Int, _ facts: UnsafeMutablePointer<sdd_image_facts>?
) -> sdd_status {
    status { () throws(Refusal) in
        try checkBytes(bytes, size, "bytes")
        // Clear the facts first, so that an error leaves no values from an earlier call.
        try fill(facts, "facts", with: sdd_image_facts())
        // Safety: the library's header requires `size` readable bytes.
        try fill(facts, "facts", with: sdd_image_facts(try read(UnsafeRawBufferPointer(start: bytes, count: size))))
    }
}

@_cdecl("sdd_image_get_facts") @implementation
public func sdd_image_get_facts(
    _ image: OpaquePointer?, _ facts: UnsafeMutablePointer<sdd_image_facts>?
) -> sdd_status {
    status { () throws(Refusal) in
        try fill(facts, "facts", with: sdd_image_facts())
        guard let image = Handle.image(image) else { throw .null("image") }
        guard let known = image.facts else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "image", "it was made of pixels, and has no facts of a file")
        }
        try fill(facts, "facts", with: sdd_image_facts(known))
    }
}

@_cdecl("sdd_image_sniff") @implementation
public func sdd_image_sniff(_ bytes: UnsafeRawPointer?, _ size: Int) -> Int32 {
    answer(orElse: 0) { () throws(Refusal) in
        try checkBytes(bytes, size, "bytes")
        // Safety: the library's header requires `size` readable bytes.
        return ImageFormat(magicNumberOf: UnsafeRawBufferPointer(start: bytes, count: size))?.rawValue ?? 0
    }
}

private func read(_ bytes: UnsafeRawBufferPointer) throws(Refusal) -> ImageFacts {
    do throws(ImageFacts.Failure) {
        return try ImageFacts(of: bytes)
    } catch {
        switch error {
        case .incomplete:
            throw Refusal(
                SDD_ERROR_INCOMPLETE, "size",
                "\(bytes.count) bytes end before the facts do: call again with more of them")
        case .unknownFormat:
            throw Refusal(SDD_ERROR_BAD_IMAGE_DATA, "bytes", "they do not begin as a JPEG or PNG does")
        case .malformed:
            throw Refusal(SDD_ERROR_BAD_IMAGE_DATA, "bytes", "they begin as a picture does, and go on as none can")
        }
    }
}

extension sdd_image_facts {
    init(_ facts: ImageFacts) {
        self.init()
        struct_size = MemoryLayout<sdd_image_facts>.size
        format = facts.format.rawValue
        width = Int32(clamping: facts.width)
        height = Int32(clamping: facts.height)
        channels = Int32(clamping: facts.channels)
        depth = Int32(clamping: facts.depth)
        is_progressive = facts.isProgressive ? 1 : 0
        is_animated = facts.frameCount > 1 ? 1 : 0
        frame_count = Int32(clamping: facts.frameCount)
        loop_count = Int32(clamping: facts.loopCount)
        orientation = Int32(clamping: facts.orientation)
    }
}

/// Image facts in C form, freed with the last reference. Thread: the one on which the downloader delivers.
final class LentFacts {
    private let place = UnsafeMutablePointer<sdd_image_facts>.allocate(capacity: 1)

    init(_ facts: ImageFacts) { place.initialize(to: sdd_image_facts(facts)) }

    deinit { place.deallocate() }

    var pointer: UnsafePointer<sdd_image_facts> { UnsafePointer(place) }
}
