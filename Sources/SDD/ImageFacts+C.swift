public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_probe") @implementation
public func sdd_image_probe(
    _ bytes: UnsafeRawPointer?, _ size: Int, _ facts: UnsafeMutablePointer<sdd_image_facts>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard size >= 0, bytes != nil || size == 0 else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        // None, so that on an error nothing of a call before is left.
        try fill(facts, with: sdd_image_facts())
        // Safety: the header of the library promises `size` readable bytes.
        try fill(facts, with: sdd_image_facts(try read(UnsafeRawBufferPointer(start: bytes, count: size))))
    }
}

@_cdecl("sdd_image_get_facts") @implementation
public func sdd_image_get_facts(
    _ image: OpaquePointer?, _ facts: UnsafeMutablePointer<sdd_image_facts>?
) -> sdd_status {
    status { () throws(Refusal) in
        try fill(facts, with: sdd_image_facts())
        guard let image = Handle.image(image) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        guard let known = image.facts else { throw Refusal(SDD_ERROR_NOT_FOUND) }
        try fill(facts, with: sdd_image_facts(known))
    }
}

@_cdecl("sdd_image_sniff") @implementation
public func sdd_image_sniff(_ bytes: UnsafeRawPointer?, _ size: Int) -> Int32 {
    guard let bytes, size > 0 else { return 0 }
    // Safety: the header of the library promises `size` readable bytes.
    return ImageFormat(magicNumberOf: UnsafeRawBufferPointer(start: bytes, count: size))?.rawValue ?? 0
}

private func read(_ bytes: UnsafeRawBufferPointer) throws(Refusal) -> ImageFacts {
    do throws(ImageFacts.Failure) {
        return try ImageFacts(of: bytes)
    } catch {
        throw Refusal(error == .incomplete ? SDD_ERROR_INCOMPLETE : SDD_ERROR_BAD_IMAGE_DATA)
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

/// Facts as the C side reads them, freed with the last reference. Thread: where the downloader delivers.
final class LentFacts {
    private let place = UnsafeMutablePointer<sdd_image_facts>.allocate(capacity: 1)

    init(_ facts: ImageFacts) { place.initialize(to: sdd_image_facts(facts)) }

    deinit { place.deallocate() }

    var pointer: UnsafePointer<sdd_image_facts> { UnsafePointer(place) }
}
