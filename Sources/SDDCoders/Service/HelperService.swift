internal import CHelper
internal import Glibc
internal import SDDBase

/// Why a process that was started as a helper cannot be one.
package enum HelperFlaw {
    /// The shared object of its coder cannot be loaded, for a reason.
    case noCoder(String)
    /// The system refuses the sandbox, with an error number.
    case noSandbox(Int32)

    fileprivate var number: sddhelper_flaw {
        switch self {
        case .noCoder: SDDHELPER_NO_CODER
        case .noSandbox: SDDHELPER_NO_SANDBOX
        }
    }

    fileprivate var reason: String {
        switch self {
        case .noCoder(let reason): reason
        case .noSandbox(let error): "the system refuses the sandbox: \(String(cString: strerror(error)))"
        }
    }
}

/// What a helper does: it answers one request after the other, until the application's end of the socket is closed.
/// Runs in a process of its own, on its main thread.
package final class HelperService {
    /// A picture whose body arrives in pieces.
    private final class Kept {
        let reader: (any PictureReading)?
        let decoder: (any AppDecoder)?
        let body = ByteBuilder()
        /// The whole body, which the decoder may refer to.
        var whole: Bytes?

        init(_ reader: any PictureReading) { (self.reader, decoder) = (reader, nil) }
        init(_ decoder: any AppDecoder) { (reader, self.decoder) = (nil, decoder) }

        deinit { decoder?.close() }
    }

    private let coder: (any AppCoder)?
    private var kept: [UInt32: Kept] = [:]
    private let canvas = PixelFile()
    /// The body file, as far as it is mapped.
    private var bodyFile = UnsafeRawBufferPointer(start: nil, count: 0)

    /// - Parameter coder: decodes all bodies; `nil` means the coders of the library.
    package init(coder: (any AppCoder)?) { self.coder = coder }

    /// Tells the application's process that this one is ready, or why it cannot be.
    package static func greet(_ flaw: HelperFlaw? = nil) {
        var hello = sddhelper_hello()
        (hello.magic, hello.protocol) = (UInt32(SDDHELPER_MAGIC), UInt32(SDDHELPER_PROTOCOL))
        hello.request_size = UInt32(MemoryLayout<sddhelper_request>.size)
        hello.reply_size = UInt32(MemoryLayout<sddhelper_reply>.size)
        hello.flaw = Int32(flaw?.number.rawValue ?? SDDHELPER_READY.rawValue)
        withUnsafeMutableBytes(of: &hello.reason) {
            $0.copyBytes(from: (flaw?.reason ?? "").utf8.prefix($0.count - 1))
        }
        _ = withUnsafeBytes(of: &hello) { sddhelper_send(Descriptor.socket, $0.baseAddress, UInt64($0.count), true) }
    }

    /// - Returns: the exit status of the process.
    package func run() -> Int32 {
        Self.greet()
        SpareMemory.beginUse()
        var begin = Self.cpuTime
        while true {
            var request = sddhelper_request()
            let size = withUnsafeMutableBytes(of: &request) {
                sddhelper_receive(Descriptor.socket, $0.baseAddress, UInt64($0.count))
            }
            if size == 0 { return 0 }
            guard size == Int64(MemoryLayout<sddhelper_request>.size) else { return 1 }
            if request.question == SDDHELPER_CLOSE.rawValue {
                kept[request.reader] = nil
                continue
            }
            var reply = sddhelper_reply()
            reply.good_rows = -1
            do throws(CoderError) {
                reply.answer = try answer(request, &reply).rawValue
            } catch {
                reply.answer = SDDHELPER_FAILED.rawValue
                reply.error = error.kind.rawValue
                withUnsafeMutableBytes(of: &reply.reason) { $0.copyBytes(from: error.reason.utf8.prefix($0.count - 1)) }
            }
            canvas.reset()
            let now = Self.cpuTime
            (reply.cpu_time, begin) = (now - begin, now)
            let error = withUnsafeBytes(of: &reply) {
                sddhelper_send(Descriptor.socket, $0.baseAddress, UInt64($0.count), true)
            }
            if error != 0 { return 0 }
        }
    }

    private static var cpuTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    private func answer(
        _ request: sddhelper_request, _ reply: inout sddhelper_reply
    ) throws(CoderError) -> sddhelper_answer {
        if let coder { return try answer(request, by: coder, &reply) }
        switch request.question {
        case SDDHELPER_READ.rawValue: return try read(request, &reply)
        case SDDHELPER_PREVIEW.rawValue:
            guard let preview = try reader(of: request)?.preview(afterScans: Int(request.after_scans)) else {
                return SDDHELPER_NOTHING
            }
            try put(preview.pixels, in: &reply)
            reply.good_rows = Int64(preview.goodRows)
            return SDDHELPER_GIVEN
        case SDDHELPER_IS_ENDED.rawValue:
            guard let reader = try reader(of: request), let body = kept[request.reader]?.body.soFar() else {
                return SDDHELPER_NO
            }
            return reader.isEnded(by: body) ? SDDHELPER_GIVEN : SDDHELPER_NO
        case SDDHELPER_PROFILE.rawValue:
            let chunk = try body(request.count)
            let profile = try PNGCoder().profile(
                unpacking: chunk.pointer, isGrey: request.is_grey, limits: DecodeLimits())
            guard let profile else { return SDDHELPER_NO }
            try withExtendedLifetime(profile) { () throws(CoderError) in try put(profile: profile.pointer, in: &reply) }
            return SDDHELPER_GIVEN
        default: throw CoderError(.unsupported, "question \(request.question)")
        }
    }

    // MARK: - Formats of the library

    private func read(
        _ request: sddhelper_request, _ reply: inout sddhelper_reply
    ) throws(CoderError) -> sddhelper_answer {
        let reader: any PictureReading
        let pixels: PixelBuffer?
        if request.is_last, kept[request.reader] == nil {
            // Most pictures: the body is there at once, and its pixels are written where the application reads them.
            reader = try makeReader(request, in: canvas.memory(rowAlignment: 1))
            pixels = try reader.read(body(request.count), isLast: true)
        } else {
            guard let known = try self.reader(of: request), let body = kept[request.reader]?.body.soFar() else {
                throw CoderError(.noMemory)
            }
            reader = known
            pixels = try known.read(body, isLast: request.is_last)
        }
        guard let pixels else { return SDDHELPER_NOTHING }
        try put(pixels, in: &reply)
        reply.good_rows = reader.goodRows.map { Int64($0) } ?? -1
        return SDDHELPER_GIVEN
    }

    private func makeReader(
        _ request: sddhelper_request, in memory: PixelMemory
    ) throws(CoderError) -> any PictureReading {
        guard let format = ImageFormat(rawValue: request.format), let task = request.task(in: memory),
            let coder = CoderRegistry.builtIn.coder(for: format)
        else { throw CoderError(.unsupported) }
        return try coder.makeReader(task)
    }

    /// Returns the reader that a request names, after the request's bytes have been added to its body.
    private func reader(of request: sddhelper_request) throws(CoderError) -> (any PictureReading)? {
        let known: Kept
        if let already = kept[request.reader] {
            known = already
        } else {
            known = Kept(try makeReader(request, in: .library))
            kept[request.reader] = known
        }
        let piece = try body(request.count)
        guard let base = piece.pointer.baseAddress else { return known.reader }
        let isAppended = withExtendedLifetime(piece) { known.body.append(base, count: piece.count) }
        guard isAppended else { throw CoderError(.noMemory) }
        return known.reader
    }

    /// Returns the bytes in the body file, which stay there until the next request.
    private func body(_ count: UInt64) throws(CoderError) -> Bytes {
        guard count > 0 else { return Bytes(adopting: nil, count: 0) }
        if count > UInt64(bodyFile.count) { try mapBody(Int(clamping: count)) }
        return Bytes(borrowing: UnsafeRawBufferPointer(rebasing: bodyFile[..<Int(count)]))
    }

    private func mapBody(_ count: Int) throws(CoderError) {
        if bodyFile.count > 0 { munmap(UnsafeMutableRawPointer(mutating: bodyFile.baseAddress), bodyFile.count) }
        bodyFile = UnsafeRawBufferPointer(start: nil, count: 0)
        guard let base = mmap(nil, count, PROT_READ, MAP_SHARED, Descriptor.body, 0), base != MAP_FAILED else {
            throw CoderError(.noMemory, "\(count) bytes of body")
        }
        bodyFile = UnsafeRawBufferPointer(start: base, count: count)
    }

    /// Names pixels in a reply; copies them to the pixel file if they are not there yet.
    private func put(_ pixels: PixelBuffer, in reply: inout sddhelper_reply) throws(CoderError) {
        reply.has_pixels = true
        (reply.width, reply.height) = (Int32(clamping: pixels.width), Int32(clamping: pixels.height))
        reply.pixel_format = pixels.format.rawValue
        reply.stride = UInt64(pixels.stride)
        reply.offset = try UInt64(canvas.offset(of: pixels.base, byteCount: pixels.stride * pixels.height))
    }

    /// Copies a profile to the pixel file, unless it is larger than any that is read.
    private func put(profile: UnsafeRawBufferPointer, in reply: inout sddhelper_reply) throws(CoderError) {
        guard let bytes = profile.baseAddress, profile.count <= ColourDescription.largestProfile else { return }
        let (base, offset) = try canvas.allocate(profile.count)
        base.copyMemory(from: bytes, byteCount: profile.count)
        (reply.profile_offset, reply.profile_size) = (UInt64(offset), UInt64(profile.count))
    }

    // MARK: - Coders from shared objects

    private func answer(
        _ request: sddhelper_request, by coder: any AppCoder, _ reply: inout sddhelper_reply
    ) throws(CoderError) -> sddhelper_answer {
        switch request.question {
        case SDDHELPER_CAN_DECODE.rawValue:
            let beginning = try body(request.count)
            switch withExtendedLifetime(beginning, { coder.canDecode(beginning.pointer) }) {
            case true: return SDDHELPER_GIVEN
            case false: return SDDHELPER_NO
            case nil: return SDDHELPER_NOTHING
            }
        case SDDHELPER_READ.rawValue:
            try feed(request, coder)
            return SDDHELPER_NOTHING
        case SDDHELPER_ESTIMATE.rawValue: return try estimate(request, coder, &reply)
        case SDDHELPER_RESIZE.rawValue:
            try decoder(of: request, coder).1.resize(
                width: Int(clamping: request.width), height: Int(clamping: request.height))
            return SDDHELPER_NOTHING
        case SDDHELPER_NEXT.rawValue:
            switch try decoder(of: request, coder).1.next() {
            case .frame(let frame):
                try put(frame, in: &reply)
                return SDDHELPER_GIVEN
            case .incomplete: return SDDHELPER_NOTHING
            case .end: return SDDHELPER_NO
            }
        case SDDHELPER_PREVIEW.rawValue:
            switch try decoder(of: request, coder).1.preview() {
            case .frame(let frame, let rows):
                try put(frame, in: &reply)
                reply.good_rows = rows.map { Int64($0) } ?? -1
                return SDDHELPER_GIVEN
            case .nothing: return SDDHELPER_NOTHING
            case .wholeOnly(var frame):
                frame.pixels = nil
                try put(frame, in: &reply)
                return SDDHELPER_WHOLE_ONLY
            }
        default: throw CoderError(.unsupported, "question \(request.question)")
        }
    }

    private func feed(_ request: sddhelper_request, _ coder: any AppCoder) throws(CoderError) {
        let (known, decoder) = try decoder(of: request, coder)
        let piece = try body(request.count)
        guard request.is_last, known.whole == nil else {
            try withExtendedLifetime(piece) { () throws(CoderError) in
                try decoder.feed(piece.pointer, isLast: request.is_last)
            }
            return
        }
        // A decoder may refer to the whole body, which the next request replaces in the file.
        let copy = withExtendedLifetime(piece) { Bytes(copying: piece.pointer) }
        guard let copy else { throw CoderError(.noMemory) }
        known.whole = copy
        try decoder.feed(copy.pointer, isLast: true)
    }

    private func estimate(
        _ request: sddhelper_request, _ coder: any AppCoder, _ reply: inout sddhelper_reply
    ) throws(CoderError) -> sddhelper_answer {
        switch try decoder(of: request, coder).1.estimate() {
        case .unknown: return SDDHELPER_NO
        case .incomplete: return SDDHELPER_NOTHING
        case .known(let width, let height, let bytes):
            (reply.picture_width, reply.picture_height, reply.decode_bytes) = (width, height, bytes)
            return SDDHELPER_GIVEN
        }
    }

    private func decoder(
        of request: sddhelper_request, _ coder: any AppCoder
    ) throws(CoderError) -> (Kept, any AppDecoder) {
        if let known = kept[request.reader], let decoder = known.decoder { return (known, decoder) }
        let task = AppDecodeTask(
            maxPixels: Int(request.max_pixels), wantedSide: Int(request.wanted_side), keepsRest: request.is_lenient)
        let decoder = try coder.open(task)
        let known = Kept(decoder)
        kept[request.reader] = known
        return (known, decoder)
    }

    /// Names a coder's frame in a reply, with a copy of its pixels if its numbers are possible. The application's
    /// process says what is wrong with the others.
    private func put(_ frame: AppFrame, in reply: inout sddhelper_reply) throws(CoderError) {
        (reply.width, reply.height, reply.pixel_format) = (frame.width, frame.height, frame.pixelFormat)
        (reply.picture_width, reply.picture_height) = (frame.pictureWidth, frame.pictureHeight)
        (reply.orientation, reply.duration) = (frame.orientation, frame.duration)
        (reply.frame_count, reply.loop_count) = (frame.frameCount, frame.loopCount)
        (reply.primaries, reply.transfer) = (frame.primaries, frame.transfer)
        try put(profile: frame.profile, in: &reply)
        reply.good_rows = Int64(frame.goodRows)
        guard let pixels = frame.pixels, let format = PixelFormat(rawValue: frame.pixelFormat), frame.width > 0,
            frame.height > 0, format.planeCount == 1
        else { return }
        let rowBytes = Int(frame.width) * format.bytesPerPixel
        guard frame.stride >= rowBytes, !frame.stride.multipliedReportingOverflow(by: Int(frame.height)).overflow else {
            return
        }
        let (base, offset) = try canvas.allocate(rowBytes * Int(frame.height))
        for y in 0..<Int(frame.height) {
            (base + y * rowBytes).copyMemory(from: pixels + y * frame.stride, byteCount: rowBytes)
        }
        (reply.has_pixels, reply.stride, reply.offset) = (true, UInt64(rowBytes), UInt64(offset))
    }
}
