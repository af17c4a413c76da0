internal import CHelper
internal import SDDBase

/// A body that a helper decodes with a coder from a shared object. Used by one thread at a time.
final class IsolatedAppDecoder: AppDecoder {
    private let helpers: HelperPool
    private let object: String
    private let task: AppDecodeTask
    private var seat: HelperPool.Seat?
    private var hasBegun = false
    /// The colour profile of the latest frame.
    private var profile: Bytes?
    /// Pixels of a frame whose size was set.
    private var drawn: Int64?
    /// The pixels of the latest frame.
    private var block: SpareMemory.Block?

    init(_ helpers: HelperPool, _ object: String, _ task: AppDecodeTask) {
        (self.helpers, self.object, self.task) = (helpers, object, task)
    }

    /// True if the helper has ended, perhaps because of another picture.
    var isLost: Bool { hasBegun && seat.map { helpers.hasLost($0) } ?? true }

    func feed(_ piece: UnsafeRawBufferPointer, isLast: Bool) throws(CoderError) {
        try ask(SDDHELPER_READ, piece, isLast: isLast) { _, reply throws(CoderError) in
            guard reply.answer == SDDHELPER_NOTHING.rawValue else { throw Self.error(reply) }
        }
    }

    /// Returns the helper's estimate, with two copies of a frame: one in the file that carries it, one in this process.
    func estimate() throws(CoderError) -> AppEstimate {
        try ask(SDDHELPER_ESTIMATE) { _, reply throws(CoderError) in
            switch reply.answer {
            case SDDHELPER_GIVEN.rawValue:
                let pixels = self.drawn ?? Int64(max(reply.picture_width, 0)) * Int64(max(reply.picture_height, 0))
                let copies = pixels > Int64.max / 8 ? Int64.max : pixels * 8
                let (bytes, isTooMany) = reply.decode_bytes.addingReportingOverflow(copies)
                return .known(
                    width: reply.picture_width, height: reply.picture_height, bytes: isTooMany ? .max : bytes)
            case SDDHELPER_NOTHING.rawValue: return .incomplete
            case SDDHELPER_NO.rawValue: return .unknown
            default: throw Self.error(reply)
            }
        }
    }

    func resize(width: Int, height: Int) throws(CoderError) {
        drawn = Int64(width) * Int64(height)
        try ask(SDDHELPER_RESIZE, width: width, height: height) { _, reply throws(CoderError) in
            guard reply.answer == SDDHELPER_NOTHING.rawValue else { throw Self.error(reply) }
        }
    }

    func next() throws(CoderError) -> AppAnswer {
        try ask(SDDHELPER_NEXT) { helper, reply throws(CoderError) in
            switch reply.answer {
            case SDDHELPER_GIVEN.rawValue:
                var frame = try self.frame(of: reply, from: helper)
                frame.goodRows = Int32(clamping: max(0, reply.good_rows))
                return .frame(frame)
            case SDDHELPER_NOTHING.rawValue: return .incomplete
            case SDDHELPER_NO.rawValue: return .end
            default: throw Self.error(reply)
            }
        }
    }

    func preview() throws(CoderError) -> AppPreview {
        try ask(SDDHELPER_PREVIEW) { helper, reply throws(CoderError) in
            switch reply.answer {
            case SDDHELPER_GIVEN.rawValue:
                let rows = reply.good_rows < 0 ? nil : Int(min(reply.good_rows, Int64(Int32.max)))
                return .frame(try self.frame(of: reply, from: helper), goodRows: rows)
            case SDDHELPER_NOTHING.rawValue: return .nothing
            case SDDHELPER_WHOLE_ONLY.rawValue: return .wholeOnly(try self.frame(of: reply, from: helper))
            default: throw Self.error(reply)
            }
        }
    }

    func close() {
        if let seat { helpers.leave(seat) }
        seat = nil
        freePixels()
    }

    private func ask<Answer>(
        _ question: sddhelper_question, _ piece: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        isLast: Bool = false, width: Int = 0, height: Int = 0,
        _ use: (Helper, sddhelper_reply) throws(CoderError) -> Answer
    ) throws(CoderError) -> Answer {
        freePixels()
        var request = sddhelper_request()
        request.question = question.rawValue
        request.is_last = isLast
        request.max_pixels = Int64(task.maxPixels)
        request.wanted_side = Int64(task.wantedSide)
        (request.width, request.height) = (Int64(width), Int64(height))
        request.is_lenient = task.keepsRest
        let (hasBegun, limits) = (hasBegun, task.limits)
        self.hasBegun = true
        return try helpers.ask(&seat, object) { seat, isNew throws(CoderError) in
            // Another helper has nothing of the body. The first one has ended because of another picture.
            if isNew && hasBegun { throw CoderError(.noDecoder, "it has ended") }
            request.reader = seat.reader
            return try use(seat.helper, seat.helper.ask(request, piece, limits))
        }
    }

    private static func error(_ reply: sddhelper_reply) -> CoderError {
        if reply.answer == SDDHELPER_FAILED.rawValue { return CoderError(reply) }
        return CoderError(.decoder, "it gave an answer to another question")
    }

    private func freePixels() {
        if let block { SpareMemory.pixels.free(block) }
        block = nil
    }

    /// Returns a frame with a copy of its pixels, which is valid until the next call. Its numbers are checked where all
    /// frames are.
    private func frame(of reply: sddhelper_reply, from helper: Helper) throws(CoderError) -> AppFrame {
        var frame = AppFrame()
        (frame.width, frame.height, frame.pixelFormat) = (reply.width, reply.height, reply.pixel_format)
        (frame.pictureWidth, frame.pictureHeight) = (reply.picture_width, reply.picture_height)
        (frame.orientation, frame.duration) = (reply.orientation, reply.duration)
        (frame.frameCount, frame.loopCount) = (reply.frame_count, reply.loop_count)
        (frame.primaries, frame.transfer) = (reply.primaries, reply.transfer)
        profile = try helper.profile(of: reply)
        if let profile { frame.profile = profile.pointer }
        guard reply.has_pixels, let format = PixelFormat(rawValue: reply.pixel_format) else { return frame }
        try PixelBuffer.check(
            width: UInt32(max(reply.width, 0)), height: UInt32(max(reply.height, 0)), maxPixels: task.maxPixels)
        let rowBytes = Int(reply.width) * format.bytesPerPixel
        guard reply.stride == UInt64(rowBytes) else { throw CoderError(.decoder, "it answered with longer rows") }
        let rows = try helper.rows(of: reply, rowBytes: rowBytes)
        let size = rowBytes * Int(reply.height)
        guard let block = SpareMemory.pixels.allocate(size) else { throw CoderError(.noMemory, "\(size) bytes") }
        block.base.copyMemory(from: rows, byteCount: size)
        self.block = block
        (frame.pixels, frame.stride) = (UnsafeRawPointer(block.base), rowBytes)
        return frame
    }
}
