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
        guard let out else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        out.pointee = Handle.retained(try encoded(image, options))
    }
}

@_cdecl("sdd_image_encode_fd") @implementation
public func sdd_image_encode_fd(
    _ image: OpaquePointer?, _ options: UnsafePointer<sdd_encode_options>?, _ descriptor: Int32,
    _ systemError: UnsafeMutablePointer<Int32>?
) -> sdd_status {
    systemError?.pointee = 0
    return status { () throws(Refusal) in
        guard descriptor >= 0 else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let bytes = try encoded(image, options)
        // Safety: what has been encoded is there until it is written.
        let code = withExtendedLifetime(bytes) {
            bytes.pointer.baseAddress.map { writeAll($0, count: bytes.count, to: descriptor) } ?? 0
        }
        if code == 0 { return }
        systemError?.pointee = code
        throw Refusal(SDD_ERROR_SINK)
    }
}

@_cdecl("sdd_image_encode_async") @implementation
public func sdd_image_encode_async(
    _ image: OpaquePointer?, _ downloader: OpaquePointer?, _ options: UnsafePointer<sdd_encode_options>?,
    _ completed: sdd_completed_fn?, _ userData: UnsafeMutableRawPointer?, _ free: sdd_user_data_free_fn?,
    _ out: UnsafeMutablePointer<sdd_status>?
) -> sdd_token {
    var token: sdd_token = 0
    let status = status { () throws(Refusal) in
        let client = try Handle.client(downloader)
        guard let image = Handle.image(image), completed != nil || client.downloader.isHostDriven else {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
        }
        let options = try encodeOptions(options)
        let request = MakeInquiry.request(named: "encode") { encoded(image, options) }
        var given = sdd_download_request()
        given.completed = completed
        given.user_data = userData
        given.user_data_free = free
        let receiver = CallbackReceiver(given, keepsURL: false)
        guard let accepted = client.downloader.submit(.success(request), receiver: receiver) else {
            throw Refusal(SDD_ERROR_CLOSED)
        }
        token = accepted
    }
    out?.pointee = status
    return token
}

private func encoded(
    _ image: OpaquePointer?, _ options: UnsafePointer<sdd_encode_options>?
) throws(Refusal) -> Bytes {
    guard let image = Handle.image(image) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    switch encoded(image, try encodeOptions(options)) {
    case .success(let bytes): return bytes
    case .failure(let error): throw Refusal(Int(error.code.rawValue))
    }
}

/// Thread: any, which takes the time that it takes.
private func encoded(_ image: Image, _ options: EncodeOptions) -> Result<Bytes, DownloadError> {
    let pixels: PixelBuffer
    do throws(CoderError) { pixels = try image.decoded() } catch { return .failure(DownloadError(error)) }
    do throws(EncodeError) {
        return .success(try ImageEncoder.encode(pixels, options, registry: .builtIn.asking([.process])))
    } catch {
        return .failure(DownloadError(error))
    }
}

extension DownloadError {
    fileprivate init(_ error: EncodeError) {
        switch error {
        case .doesNotFit:
            self.init(
                .doesNotFit, .none,
                "The picture does not fit into max_bytes at any quality or size, or a JPEG has a side over 65,500 pixels."
            )
        case .unsupported:
            self.init(.unsupported, .none, "Nobody encodes that format, or its coder would not encode this picture.")
        // libpng and libjpeg have no other reason left.
        case .noMemory, .failed:
            self.init(.noResources, .none, "There is no memory for encoding the picture.")
        }
    }
}

private func encodeOptions(_ source: UnsafePointer<sdd_encode_options>?) throws(Refusal) -> EncodeOptions {
    var made = EncodeOptions()
    guard let source else { return made }
    var given = sdd_encode_options()
    try read(source, into: &given)
    guard given.reserved == 0 else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    made.format = ImageFormat(rawValue: given.format)
    guard made.format != nil || given.format == 0, (0...100).contains(given.quality), given.max_width >= 0,
        given.max_height >= 0, given.max_bytes >= 0, given.background <= 0xff_ffff,
        (0...1).contains(given.progressive), let chroma = EncodeOptions.Chroma(rawValue: given.chroma)
    else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    if given.quality > 0 { made.quality = Int(given.quality) }
    made.size = SizeRule(width: Int(given.max_width), height: Int(given.max_height))
    made.byteLimit = given.max_bytes
    made.background = given.background
    made.isProgressive = given.progressive == 1
    made.chroma = chroma
    return made
}
