internal import CSDD
internal import SDDCoders

/// A decoder made by a vtable's `open`. Used by one thread at a time.
final class AppDecoderBridge: AppDecoder {
    private let decoder: UnsafeMutableRawPointer
    private let table: sdd_coder
    private let data: AppData

    init(_ decoder: UnsafeMutableRawPointer, _ table: sdd_coder, _ data: AppData) {
        self.decoder = decoder
        self.table = table
        self.data = data
    }

    func feed(_ piece: UnsafeRawBufferPointer, isLast: Bool) throws(CoderError) {
        try CoderError.check(
            table.feed?(decoder, piece.baseAddress, piece.count, isLast ? 1 : 0, data.pointer))
    }

    func estimate() throws(CoderError) -> AppEstimate {
        guard let estimate = table.estimate else { return .unknown }
        var given = sdd_coder_estimate()
        given.struct_size = MemoryLayout<sdd_coder_estimate>.size
        switch Int(estimate(decoder, &given, data.pointer)) {
        case SDD_OK: return .known(width: given.width, height: given.height, bytes: given.decode_bytes)
        case SDD_ERROR_INCOMPLETE: return .incomplete
        case let status: throw CoderError(status)
        }
    }

    func resize(width: Int, height: Int) throws(CoderError) {
        guard let resize = table.resize else { return }
        try CoderError.check(resize(decoder, Int32(clamping: width), Int32(clamping: height), data.pointer))
    }

    func next() throws(CoderError) -> AppAnswer {
        var given = sdd_coder_frame()
        given.struct_size = MemoryLayout<sdd_coder_frame>.size
        switch try CoderError.known(table.next?(decoder, &given, data.pointer)) {
        case SDD_OK: return .frame(AppFrame(given))
        case SDD_ERROR_INCOMPLETE: return .incomplete
        case SDD_ERROR_NOT_FOUND: return .end
        case let status: throw CoderError(status)
        }
    }

    func preview() throws(CoderError) -> AppPreview {
        guard let preview = table.preview else { return .wholeOnly(AppFrame()) }
        var given = sdd_coder_preview()
        given.struct_size = MemoryLayout<sdd_coder_preview>.size
        given.frame.struct_size = MemoryLayout<sdd_coder_frame>.size
        switch Int(preview(decoder, &given, data.pointer)) {
        case SDD_OK: return .frame(AppFrame(given.frame), goodRows: given.is_refined == 1 ? nil : Int(given.good_rows))
        case SDD_ERROR_INCOMPLETE: return .nothing
        case SDD_ERROR_UNSUPPORTED: return .wholeOnly(AppFrame(given.frame))
        case let status: throw CoderError(status)
        }
    }

    func close() { table.close?(decoder, data.pointer) }
}

extension AppFrame {
    fileprivate init(_ given: sdd_coder_frame) {
        self.init()
        pixels = given.pixels
        stride = given.stride
        width = given.width
        height = given.height
        pictureWidth = given.picture_width
        pictureHeight = given.picture_height
        pixelFormat = given.pixel_format
        orientation = given.orientation
        frameCount = given.frame_count
        loopCount = given.loop_count
        duration = given.duration_us
        if let base = given.icc_profile, given.icc_profile_size > 0 {
            profile = UnsafeRawBufferPointer(start: base, count: given.icc_profile_size)
        }
        (primaries, transfer) = (given.primaries, given.transfer)
        goodRows = given.good_rows
    }
}

/// Errors from the statuses that a coder's functions return.
extension CoderError {
    static func check(_ status: sdd_status?) throws(CoderError) {
        let status = try known(status)
        guard status == SDD_OK else { throw CoderError(status) }
    }

    /// - Parameter status: never `nil`: the coder has the function.
    fileprivate static func known(_ status: sdd_status?) throws(CoderError) -> Int {
        guard let status else { throw CoderError(.coder) }
        return Int(status)
    }

    fileprivate init(_ status: Int) {
        let kind: Kind =
            switch status {
            case SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CORRUPT: .corrupt
            case SDD_ERROR_INCOMPLETE, SDD_DETAIL_IMAGE_TRUNCATED: .truncated
            case SDD_ERROR_UNSUPPORTED, SDD_DETAIL_IMAGE_UNSUPPORTED: .unsupported
            case SDD_ERROR_NO_RESOURCES, SDD_DETAIL_IMAGE_NO_MEMORY: .noMemory
            case SDD_DETAIL_IMAGE_EMPTY: .empty
            case SDD_DETAIL_IMAGE_UNKNOWN_FORMAT: .unknownFormat
            case SDD_DETAIL_IMAGE_ZERO_PIXELS: .zeroPixels
            case SDD_DETAIL_IMAGE_TOO_MANY_PIXELS: .tooManyPixels
            case SDD_DETAIL_IMAGE_TOO_MANY_SCANS: .tooManyScans
            case SDD_DETAIL_IMAGE_TOO_SLOW: .tooSlow
            case SDD_DETAIL_IMAGE_TOO_MANY_FRAMES: .tooManyFrames
            case SDD_DETAIL_IMAGE_CHUNK_TOO_LARGE: .chunkTooLarge
            case SDD_DETAIL_IMAGE_TOO_MUCH_MEMORY: .tooMuchMemory
            default: .coder
            }
        self.init(kind, kind == .coder ? "status \(status)" : "")
    }
}
