public import CSDD
internal import SDDBase
internal import SDDCoders

// What is known of pictures.

@_cdecl("sdd_image_get_info") @implementation
public func sdd_image_get_info(
    _ image: OpaquePointer?, _ info: UnsafeMutablePointer<sdd_image_info>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let image = Handle.image(image) else { throw .null("image") }
        try fill(info, "info", with: sdd_image_info(image))
    }
}

@_cdecl("sdd_image_get_colour") @implementation
public func sdd_image_get_colour(
    _ image: OpaquePointer?, _ colour: UnsafeMutablePointer<sdd_image_colour>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let image = Handle.image(image) else { throw .null("image") }
        try fill(colour, "colour", with: sdd_image_colour(image))
    }
}

@_cdecl("sdd_image_probe") @implementation
public func sdd_image_probe(
    _ bytes: UnsafeRawPointer?, _ size: Int, _ info: UnsafeMutablePointer<sdd_image_info>?
) -> sdd_status {
    status { () throws(Refusal) in
        try checkBytes(bytes, size, "bytes")
        // Clear the struct first, so that an error leaves no values from an earlier call.
        try fill(info, "info", with: sdd_image_info())
        // Safety: the library's header requires `size` readable bytes.
        try fill(info, "info", with: sdd_image_info(try read(UnsafeRawBufferPointer(start: bytes, count: size))))
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

extension sdd_image_info {
    /// What is known of an encoded picture.
    init(_ facts: ImageFacts) {
        self.init()
        struct_size = MemoryLayout<sdd_image_info>.size
        format = facts.format.rawValue
        stored_width = Int32(clamping: facts.width)
        stored_height = Int32(clamping: facts.height)
        channels = Int32(clamping: facts.channels)
        depth = Int32(clamping: facts.depth)
        is_progressive = facts.isProgressive ? 1 : 0
        frame_count = Int32(clamping: facts.frameCount)
        loop_count = Int32(clamping: facts.loopCount)
        orientation = Int32(clamping: facts.orientation)
    }

    fileprivate init(_ image: Image) {
        if let facts = image.facts { self.init(facts) } else { self.init() }
        format = image.format?.rawValue ?? 0
        frame_count = Int32(clamping: image.frameCount)
        loop_count = Int32(clamping: image.animation?.loopCount ?? 1)
        pixels_size = image.ready?.byteCount ?? 0
        good_rows = Int32(clamping: image.goodRowCount)
        is_preview = image.isPreview ? 1 : 0
        is_partial = image.isPartial ? 1 : 0
        is_scaled = image.isScaled ? 1 : 0
        colour_kind = image.colour?.kind.rawValue ?? 0
        is_converted = image.isConverted ? 1 : 0
    }
}

extension sdd_image_colour {
    /// Safety: the image holds the name and the profile.
    fileprivate init(_ image: Image) {
        self.init()
        struct_size = MemoryLayout<sdd_image_colour>.size
        is_converted = image.isConverted ? 1 : 0
        guard let colour = image.colour else {
            name = emptyString
            return
        }
        kind = colour.kind.rawValue
        name = colour.name.pointer
        icc_profile = colour.description.profile.flatMap { UnsafeRawPointer($0.pointer.baseAddress) }
        icc_profile_size = colour.description.profile?.count ?? 0
        primaries = Int32(clamping: colour.description.codePoints?.primaries ?? 0)
        transfer = Int32(clamping: colour.description.codePoints?.transfer ?? 0)
        gamma = Int32(clamping: colour.description.gamma ?? 0)
        withUnsafeMutableBytes(of: &chromaticities) { given in
            let given = given.bindMemory(to: Int32.self)
            for (index, number) in (colour.description.chromaticities ?? []).prefix(given.count).enumerated() {
                given[index] = Int32(clamping: number)
            }
        }
    }
}
