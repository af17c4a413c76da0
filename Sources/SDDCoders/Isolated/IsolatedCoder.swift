internal import CHelper
internal import SDDBase

/// A format of the library whose pictures are decoded by helpers.
struct IsolatedCoder: ImageCoding {
    let format: ImageFormat
    private let helpers: HelperPool

    init(_ format: ImageFormat, _ helpers: HelperPool) { (self.format, self.helpers) = (format, helpers) }

    func makeReader(_ task: DecodeTask) throws(CoderError) -> any PictureReading {
        IsolatedReader(format, task, helpers)
    }

    func frames(of bytes: Bytes, limits: DecodeLimits, isWhole: Bool, isDeep: Bool) -> (any FrameSource)? {
        format == .png ? APNGAnimation(bytes, limits: limits, isWhole: isWhole, isDeep: isDeep, coder: self) : nil
    }

    func profile(
        unpacking chunk: UnsafeRawBufferPointer, isGrey: Bool, limits: DecodeLimits
    ) throws(CoderError) -> Bytes? {
        var request = sddhelper_request()
        request.question = SDDHELPER_PROFILE.rawValue
        request.is_grey = isGrey
        var seat: HelperPool.Seat?
        defer { if let seat { helpers.leave(seat, isKept: false) } }
        return try helpers.ask(&seat, nil) { seat, _ throws(CoderError) in
            try seat.helper.profile(of: seat.helper.ask(request, chunk, limits))
        }
    }
}

/// A picture that a helper decodes. If the helper ends because of another picture, the next call begins again with
/// another helper. Callable from any thread, by one thread at a time.
final class IsolatedReader: PictureReading {
    private let format: ImageFormat
    private let task: DecodeTask
    private let helpers: HelperPool
    private var seat: HelperPool.Seat?
    /// Bytes of the body that the helper has, if the reader has a seat.
    private var fed = 0
    /// The body so far, for a helper that has to begin again.
    private var bytes: Bytes?
    private var isWhole = false
    /// Whether the helper keeps a reader: it does not for a whole body that comes at once.
    private var isKept = false
    private(set) var goodRows: Int?

    init(_ format: ImageFormat, _ task: DecodeTask, _ helpers: HelperPool) {
        (self.format, self.task, self.helpers) = (format, task, helpers)
    }

    deinit { leave() }

    func read(_ bytes: Bytes, isLast: Bool) throws(CoderError) -> PixelBuffer? {
        self.bytes = bytes
        isWhole = isLast
        let pixels = try ask(SDDHELPER_READ, bytes, isLast: isLast) { helper, reply throws(CoderError) in
            switch reply.answer {
            case SDDHELPER_NOTHING.rawValue where !isLast: return nil as PixelBuffer?
            case SDDHELPER_GIVEN.rawValue:
                let pixels = try self.pixels(of: reply, from: helper, isPreview: false)
                self.goodRows = try Self.goodRows(of: reply)
                return pixels
            default: throw Self.error(reply)
            }
        }
        if isLast { leave() }
        return pixels
    }

    private func leave() {
        bytes = nil
        if let seat { helpers.leave(seat, isKept: isKept) }
        seat = nil
    }

    func isEnded(by body: Bytes) -> Bool {
        if isWhole { return true }
        do throws(CoderError) {
            return try ask(SDDHELPER_IS_ENDED, body, isLast: false) { _, reply in
                reply.answer == SDDHELPER_GIVEN.rawValue
            }
        } catch {
            // The picture is then decoded again.
            return false
        }
    }

    func preview(afterScans: Int) throws(CoderError) -> Preview? {
        guard let bytes else { return nil }
        return try ask(SDDHELPER_PREVIEW, bytes, isLast: false, afterScans) { helper, reply throws(CoderError) in
            switch reply.answer {
            case SDDHELPER_NOTHING.rawValue: return nil as Preview?
            case SDDHELPER_GIVEN.rawValue:
                let pixels = try self.pixels(of: reply, from: helper, isPreview: true)
                return Preview(pixels: pixels, goodRows: try Self.goodRows(of: reply) ?? pixels.height)
            default: throw Self.error(reply)
            }
        }
    }

    /// Asks the helper, and gives it the bytes that it does not have.
    private func ask<Answer>(
        _ question: sddhelper_question, _ body: Bytes, isLast: Bool, _ afterScans: Int = 0,
        _ use: (Helper, sddhelper_reply) throws(CoderError) -> Answer
    ) throws(CoderError) -> Answer {
        var request = sddhelper_request(task, format)
        request.question = question.rawValue
        request.is_last = isLast
        request.after_scans = Int64(afterScans)
        return try helpers.ask(&seat, nil) { seat, isNew throws(CoderError) in
            if isNew { (fed, isKept) = (0, false) }
            if !isLast { isKept = true }
            request.reader = seat.reader
            let piece = UnsafeRawBufferPointer(rebasing: body.pointer[min(fed, body.count)...])
            fed = body.count
            return try use(seat.helper, seat.helper.ask(request, piece, task.limits))
        }
    }

    private static func error(_ reply: sddhelper_reply) -> CoderError {
        if reply.answer == SDDHELPER_FAILED.rawValue { return CoderError(reply) }
        return CoderError(.decoder, "it gave an answer to another question")
    }

    private static func goodRows(of reply: sddhelper_reply) throws(CoderError) -> Int? {
        if reply.good_rows == -1 { return nil }
        guard reply.good_rows >= 0, reply.good_rows <= Int64(reply.height) else {
            throw CoderError(.decoder, "it answered with more rows than there are")
        }
        return Int(reply.good_rows)
    }

    /// Whether pixels have the size that follows from the body's header, for which memory was reserved.
    private func isOfPlannedSize(_ reply: sddhelper_reply) -> Bool {
        guard let bytes, let facts = try? ImageFacts(of: bytes.pointer) else { return true }
        let plan = task.size.plan(width: facts.width, height: facts.height, isTransposed: task.isTransposed)
        return plan.width == Int(reply.width) && plan.height == Int(reply.height)
    }

    /// Copies the pixels of a reply to memory as the task says, after checking their size and format.
    private func pixels(
        of reply: sddhelper_reply, from helper: Helper, isPreview: Bool
    ) throws(CoderError) -> PixelBuffer {
        guard let format = PixelFormat(rawValue: reply.pixel_format),
            [task.wanted, task.wanted.source, .rgba8].contains(format), format.planeCount == 1
        else { throw CoderError(.decoder, "it answered with pixels of format \(reply.pixel_format)") }
        try PixelBuffer.check(
            width: UInt32(max(reply.width, 0)), height: UInt32(max(reply.height, 0)), maxPixels: task.limits.maxPixels)
        guard isOfPlannedSize(reply) else { throw CoderError(.decoder, "it answered with pixels of another picture") }
        let rowBytes = Int(reply.width) * format.bytesPerPixel
        let rows = try helper.rows(of: reply, rowBytes: rowBytes)
        let memory = isPreview ? PixelMemory.library : task.memory(for: format)
        let pixels = try PixelBuffer.make(width: Int(reply.width), height: Int(reply.height), format, in: memory)
        if UInt64(pixels.stride) == reply.stride && rowBytes == pixels.stride {
            pixels.base.copyMemory(from: rows, byteCount: rowBytes * pixels.height)
        } else {
            for y in 0..<pixels.height {
                (pixels.base + y * pixels.stride).copyMemory(from: rows + y * Int(reply.stride), byteCount: rowBytes)
            }
        }
        return pixels
    }
}

// MARK: - The task in a request

extension sddhelper_request {
    init(_ task: DecodeTask, _ format: ImageFormat) {
        self.init()
        self.format = format.rawValue
        wanted = task.wanted.rawValue
        is_lenient = task.isLenient
        is_exact = task.isExact
        drops_scans = task.dropsScans
        keeps_inks = task.keepsInks
        is_transposed = task.isTransposed
        (width, height) = (Int64(task.size.width), Int64(task.size.height))
        fit = task.size.fit.rawValue
        byte_limit = task.size.byteLimit
        allows_enlarging = task.size.allowsEnlarging
        size_is_exact = task.size.isExact
        max_pixels = Int64(task.limits.maxPixels)
        max_scans = task.limits.maxScans
        milliseconds = task.limits.milliseconds
        milliseconds_per_mib = task.limits.millisecondsPerMiB
    }

    /// The task, for pixels in some memory.
    func task(in memory: PixelMemory) -> DecodeTask? {
        guard let wanted = PixelFormat(rawValue: wanted), let fit = SizeRule.Fit(rawValue: fit) else { return nil }
        var limits = DecodeLimits(maxPixels: Int(max_pixels))
        limits.maxScans = max_scans
        (limits.milliseconds, limits.millisecondsPerMiB) = (milliseconds, milliseconds_per_mib)
        return DecodeTask(
            wanted: wanted, memory: memory, limits: limits, isLenient: is_lenient, isExact: is_exact,
            dropsScans: drops_scans, keepsInks: keeps_inks,
            size: SizeRule(
                width: Int(width), height: Int(height), fit: fit, byteLimit: byte_limit,
                allowsEnlarging: allows_enlarging, isExact: size_is_exact), isTransposed: is_transposed)
    }
}
