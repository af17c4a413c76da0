internal import CSDD
internal import SDDBase
internal import SDDCoders

/// A coder that the application implements as a C vtable. Immutable. Thread: its functions are called on decode
/// threads.
final class AppCoderBridge: AppCoder, @unchecked Sendable {
    // Safety: constants, all checked by `init`; the application promises functions that may be called on any thread.
    fileprivate let table: sdd_coder
    fileprivate let data: AppData
    let name: String
    let format: ImageFormat
    let mimeType: String?
    let isInstalled: Bool
    let object: String?

    init(_ table: sdd_coder, isInstalled: Bool = false, object: String? = nil) throws(VtableFlaw) {
        guard let name = headerName(table.name), name.utf8.count <= 64 else { throw VtableFlaw(member: "name") }
        guard table.mime_type == nil || Self.isMediaType(headerValue(table.mime_type)) else {
            throw VtableFlaw(member: "mime_type")
        }
        guard let format = ImageFormat(rawValue: table.format) else { throw VtableFlaw(member: "format") }
        if table.can_decode == nil { throw VtableFlaw(member: "can_decode") }
        if table.open == nil { throw VtableFlaw(member: "open") }
        if table.feed == nil { throw VtableFlaw(member: "feed") }
        if table.next == nil { throw VtableFlaw(member: "next") }
        if table.close == nil { throw VtableFlaw(member: "close") }
        if table.resize != nil && table.estimate == nil { throw VtableFlaw(member: "estimate") }
        self.name = name
        self.format = format
        self.isInstalled = isInstalled
        self.object = object
        mimeType = headerValue(table.mime_type)?.lowercased()
        data = AppData(table.user_data, free: table.user_data_free)
        var table = table
        // These strings belong to the application, and are no longer needed.
        (table.name, table.mime_type) = (nil, nil)
        self.table = table
    }

    /// Takes ownership of the application's data. Called once the C call that passed it is certain to succeed, before
    /// other threads can reach the coder.
    func own() { data.own() }

    /// Whether a text is a media type without parameters, RFC 9110 §8.3.1.
    private static func isMediaType(_ text: String?) -> Bool {
        let parts = text?.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) ?? []
        return parts.count == 2 && parts.allSatisfy { Array($0).withUnsafeBufferPointer { HTTPFields.isToken($0) } }
    }

    func canDecode(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        switch table.can_decode?(bytes.baseAddress, bytes.count, data.pointer) {
        case 1: true
        case -1: nil
        default: false
        }
    }

    func open(_ task: AppDecodeTask) throws(CoderError) -> any AppDecoder {
        var lent = sdd_coder_task()
        lent.struct_size = MemoryLayout<sdd_coder_task>.size
        lent.max_pixels = Int64(task.maxPixels)
        lent.wanted_side = Int32(clamping: task.wantedSide)
        lent.damage = sdd_damage_mode(task.keepsRest ? SDD_DAMAGE_KEEP_REST : SDD_DAMAGE_REFUSE)
        var decoder: UnsafeMutableRawPointer?
        try CoderError.check(table.open?(&lent, &decoder, data.pointer))
        guard let decoder else { throw CoderError(.coder, "open() gave no decoder") }
        return AppDecoderBridge(decoder, table, data)
    }

    var hasPreviews: Bool { table.preview != nil }
    var draws: Bool { table.resize != nil }
    var wantsIsolation: Bool { table.isolate != nil }

    /// Prepares for a process that decodes apart, before that gives up its rights.
    func isolate() { table.isolate?(data.pointer) }

    // MARK: - Encoding

    var canEncode: Bool { table.encode != nil }

    func encode(
        _ pixels: PixelBuffer, _ colour: StoredColour, quality: Int, into bytes: ByteBuilder
    ) throws(CoderError) {
        guard let encode = table.encode else { throw CoderError(.unsupported) }
        var lent = lentFrame(pixels)
        lent.icc_profile = UnsafeRawPointer(colour.profile?.pointer.baseAddress)
        lent.icc_profile_size = colour.profile?.count ?? 0
        lent.primaries = Int32(clamping: colour.codePoints?.primaries ?? 0)
        lent.transfer = Int32(clamping: colour.codePoints?.transfer ?? 0)
        let status = withExtendedLifetime((pixels, colour, bytes)) {
            // Safety: `bytes` lives until the call returns, and no other call uses it as its context.
            encode(&lent, Int32(clamping: quality), append, Unmanaged.passUnretained(bytes).toOpaque(), data.pointer)
        }
        try CoderError.check(status)
    }
}

extension AppCoderBridge {
    var canEncodeFrames: Bool { table.encode_frames != nil }

    func encodeFrames(_ frames: any FrameFeeding, quality: Int, into bytes: ByteBuilder) throws(CoderError) {
        guard let encode = table.encode_frames else { throw CoderError(.unsupported) }
        let source = FrameSourceBox(frames)
        let status = withExtendedLifetime((source, bytes)) {
            // Safety: both live until the call returns, and no other call uses them as its source and context.
            encode(
                nextFrame, Unmanaged.passUnretained(source).toOpaque(), Int32(clamping: quality), append,
                Unmanaged.passUnretained(bytes).toOpaque(), data.pointer)
        }
        try CoderError.check(status)
    }
}

/// The source of an sdd_coder_next_fn.
private final class FrameSourceBox {
    let frames: any FrameFeeding

    init(_ frames: any FrameFeeding) { self.frames = frames }
}

/// Gives the next frame: an sdd_coder_next_fn whose source is a `FrameSourceBox`.
private func nextFrame(
    _ source: UnsafeMutableRawPointer?, _ frame: UnsafeMutablePointer<sdd_coder_frame>?
) -> sdd_status {
    guard let source, let frame else { return sdd_status(SDD_ERROR_INVALID_ARGUMENT) }
    let frames = Unmanaged<FrameSourceBox>.fromOpaque(source).takeUnretainedValue().frames
    do throws(CoderError) {
        guard let next = try frames.nextFrame() else { return sdd_status(SDD_ERROR_NOT_FOUND) }
        var lent = lentFrame(next.pixels)
        lent.frame_count = Int32(clamping: frames.frameCount)
        lent.loop_count = Int32(clamping: frames.loopCount)
        lent.duration_us = next.duration
        return status { () throws(Refusal) in try fill(frame, "frame", with: lent) }
    } catch {
        return sdd_status(error.kind == .noMemory ? SDD_ERROR_NO_RESOURCES : SDD_ERROR_BAD_IMAGE_DATA)
    }
}

/// Returns a frame for a coder that encodes, which borrows the pixels.
private func lentFrame(_ pixels: PixelBuffer) -> sdd_coder_frame {
    var lent = sdd_coder_frame()
    lent.struct_size = MemoryLayout<sdd_coder_frame>.size
    lent.pixels = UnsafeRawPointer(pixels.base)
    lent.stride = pixels.stride
    lent.width = Int32(clamping: pixels.width)
    lent.height = Int32(clamping: pixels.height)
    lent.pixel_format = pixels.format.rawValue
    return lent
}

/// Appends encoded bytes: an sdd_coder_write_fn whose context is a `ByteBuilder`.
private func append(
    _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ size: Int
) -> sdd_status {
    guard let context, size >= 0, bytes != nil || size == 0 else { return sdd_status(SDD_ERROR_INVALID_ARGUMENT) }
    guard let bytes, size > 0 else { return sdd_status(SDD_OK) }
    let builder = Unmanaged<ByteBuilder>.fromOpaque(context).takeUnretainedValue()
    return sdd_status(builder.append(bytes, count: size) ? SDD_OK : SDD_ERROR_NO_RESOURCES)
}
