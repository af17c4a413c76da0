public import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

@_cdecl("sdd_image_encode") @implementation
public func sdd_image_encode(
    _ image: OpaquePointer?, _ options: UnsafePointer<sdd_encode_options>?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    out?.pointee = nil
    return status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        out.pointee = Handle.retained(try encoded(image, options))
    }
}

@_cdecl("sdd_downloader_encode") @implementation
public func sdd_downloader_encode(
    _ downloader: OpaquePointer?, _ image: OpaquePointer?, _ options: UnsafePointer<sdd_encode_options>?,
    _ completed: sdd_result_fn?, _ userData: UnsafeMutableRawPointer?, _ free: sdd_user_data_free_fn?
) -> sdd_token {
    answer(orElse: 0) { () throws(Refusal) in
        let client = try Downloaders.client(downloader)
        guard let image = Handle.image(image) else { throw .null("image") }
        guard completed != nil || client.downloader.isAppDriven else { throw nobodyToTell("completed") }
        let options = try encodeOptions(options)
        let kept = try keepable(image)
        let request = WorkLookup.request(named: "encode") { encoded(kept, options) }
        return try client.submit(request, RequestCallbacks(key: nil, completed, userData, free))
    }
}

private func encoded(
    _ image: OpaquePointer?, _ options: UnsafePointer<sdd_encode_options>?
) throws(Refusal) -> Bytes {
    guard let image = Handle.image(image) else { throw .null("image") }
    prepareForForks()
    switch encoded(image, try encodeOptions(options)) {
    case .success(let bytes): return bytes
    case .failure(let error): throw Refusal(error)
    }
}

/// Encodes an image on the calling thread, and decodes its pixels first if necessary. Callable from any thread.
private func encoded(_ image: Image, _ options: EncodeOptions) -> Result<Bytes, DownloadError> {
    do throws(EncodeError) {
        return .success(try ImageEncoder.encode(image, options, registry: .ofProcess))
    } catch {
        return .failure(DownloadError(error, options))
    }
}

extension DownloadError {
    fileprivate init(_ error: EncodeError, _ options: EncodeOptions) {
        switch error {
        case .doesNotFit: self.init(.doesNotFit, .none, doesNotFit(options).sentence)
        case .notLoaded(let reason):
            self.init(.unsupported, .none, "sdd_encode_options.format: \(reason).")
        case .unsupported:
            let format = options.format.map { "the format \($0.rawValue)" } ?? "it"
            self.init(
                .unsupported, .none,
                "sdd_encode_options.format: nothing encodes \(format), or its coder would not encode this picture: JPEG "
                    + "and PNG are the library's own, others are of coders with encode(). Animations are PNGs, or of "
                    + "coders with encode_frames().")
        case .frame(let error): self.init(error)
        // Apart from the cases above, libpng and libjpeg fail only for lack of memory.
        case .noMemory, .failed, .profileRefused:
            self.init(.noResources, .none, "There is no memory for encoding the picture.")
        }
    }
}

private func doesNotFit(_ options: EncodeOptions) -> Refusal {
    if options.byteLimit > 0 {
        return Refusal(
            SDD_ERROR_DOES_NOT_FIT, "sdd_encode_options.max_bytes",
            "the picture does not fit into \(options.byteLimit) bytes, however small it is made")
    }
    return Refusal(
        SDD_ERROR_DOES_NOT_FIT, "image", "it has more pixels a side than the format has; max_width and max_height help")
}

private func encodeOptions(_ source: UnsafePointer<sdd_encode_options>?) throws(Refusal) -> EncodeOptions {
    var made = EncodeOptions()
    guard let source else { return made }
    let given = try read(source, "options")
    made.format = ImageFormat(rawValue: given.format)
    guard made.format != nil || given.format == 0 else {
        throw .number("sdd_encode_options.format", given.format, allowed: "one of SDD_IMAGE_FORMAT_")
    }
    guard given.background <= 0xff_ffff else { throw badBackground("sdd_encode_options.background", given.background) }
    guard let chroma = EncodeOptions.Chroma(rawValue: given.chroma) else {
        throw .number("sdd_encode_options.chroma", given.chroma, allowed: "one of SDD_CHROMA_")
    }
    let quality = try number(given.quality, "sdd_encode_options.quality", default: 0, most: 100)
    if quality > 0 { made.quality = Int(quality) }
    made.size = SizeRule(
        width: Int(try number(given.max_width, "sdd_encode_options.max_width", default: 0, most: .max)),
        height: Int(try number(given.max_height, "sdd_encode_options.max_height", default: 0, most: .max)))
    made.byteLimit = try number(given.max_bytes, "sdd_encode_options.max_bytes", default: 0, most: .max)
    made.background = given.background
    made.isProgressive = try flag(given.progressive, "sdd_encode_options.progressive")
    made.chroma = chroma
    made.isAnimated = try flag(given.animated, "sdd_encode_options.animated")
    return made
}
