internal import SDDBase
internal import Synchronization

/// The frames of a picture that an application's coder decodes. The coder reads frames only in order, so that a request
/// for an earlier frame starts a new decoder, and one for a later frame passes those between. The limits on frames and
/// time hold for each request. Callable from any thread; concurrent calls each use a decoder of their own.
final class AppFrames: FrameSource {
    let frameCount: Int
    let loopCount: Int
    private let coder: any AppCoder
    private let bytes: Bytes
    private let task: AppDecodeTask
    private let size: (width: Int, height: Int)
    private let state: Monitor<State>
    /// Bytes that a decoder takes; 0 if that is unknown.
    private let decoderBytes: Int
    private let kept = Atomic(0)

    private struct State {
        /// A decoder that is kept for the next request of a later frame.
        var reading: Reading?
        /// Durations of the first frames, as far as they have been read.
        var durations: [Int64]
        /// Index of the first frame that has been found to be damaged.
        var firstDamaged: Int
    }

    /// A decoder and its position. Used only by the thread that took it out of `state`.
    private struct Reading {
        let picture: AppPicture
        /// Index of the frame that comes next.
        var next = 0
    }

    /// - Parameters:
    ///   - first: frame 0.
    ///   - task: a task for frames as large as the picture.
    ///   - decoderBytes: bytes that a decoder takes; 0 if that is unknown.
    init(
        _ bytes: Bytes, by coder: any AppCoder, first: CheckedFrame, _ task: AppDecodeTask, decoderBytes: Int = 0
    ) {
        self.decoderBytes = decoderBytes
        self.bytes = bytes
        self.coder = coder
        frameCount = first.frameCount
        loopCount = first.loopCount
        size = (first.pictureWidth, first.pictureHeight)
        self.task = task
        state = Monitor(State(durations: [first.duration], firstDamaged: first.goodRows == nil ? .max : 0))
    }

    var encodedByteCount: Int { bytes.count }
    var keptByteCount: Int { kept.load(ordering: .relaxed) }

    func duration(of index: Int) -> Int64 {
        if let known = state.withLock({ $0.durations.indices.contains(index) ? $0.durations[index] : nil }) {
            return known
        }
        do throws(CoderError) { return try read(index) { $0.duration } } catch { return 0 }
    }

    func frame(_ index: Int) throws(CoderError) -> PixelBuffer {
        try read(index) { frame throws(CoderError) in try frame.whole() }
    }

    func isDamaged(_ index: Int) -> Bool { state.withLock { index >= $0.firstDamaged } }

    private func read<Result>(
        _ index: Int, _ body: (CheckedFrame) throws(CoderError) -> Result
    ) throws(CoderError) -> Result {
        guard (0..<frameCount).contains(index) else { throw CoderError(.unsupported, "there is no frame \(index)") }
        guard frameCount <= task.limits.maxFrames else { throw CoderError(.tooManyFrames, "\(frameCount) frames") }
        let clock = DecodeClock(task.limits, byteCount: bytes.count)
        var reading = try takeReading(before: index)
        while true {
            let frame = try next(&reading)
            guard reading.next > index else {
                try check(clock, reading)
                continue
            }
            let result = try body(frame)
            putBack(reading)
            return result
        }
    }

    /// Checks the time between two frames. What is decoded so far serves the next request.
    private func check(_ clock: DecodeClock, _ reading: Reading) throws(CoderError) {
        do throws(CoderError) {
            try clock.check()
        } catch {
            putBack(reading)
            throw error
        }
    }

    private func next(_ reading: inout Reading) throws(CoderError) -> CheckedFrame {
        guard let frame = try reading.picture.next() else {
            throw CoderError(
                .coder, "coder \(coder.name): \(reading.next) frames, where \(frameCount) were announced")
        }
        guard frame.isWhole, (frame.pictureWidth, frame.pictureHeight) == size else {
            throw CoderError(.coder, "coder \(coder.name): a frame of another size than the first")
        }
        state.withLock { state in
            if state.durations.count == reading.next { state.durations.append(frame.duration) }
            if frame.goodRows != nil { state.firstDamaged = min(state.firstDamaged, reading.next) }
        }
        reading.next += 1
        return frame
    }

    private func takeReading(before index: Int) throws(CoderError) -> Reading {
        let waiting = state.withLock { state -> Reading? in
            guard let reading = state.reading, reading.next <= index else { return nil }
            state.reading = nil
            kept.store(0, ordering: .relaxed)
            return reading
        }
        if let waiting { return waiting }
        return Reading(picture: try AppPicture.open(bytes, with: coder, task))
    }

    /// Keeps the decoder for requests of later frames, unless it is at the end. A decoder that was put back meanwhile
    /// is closed without the lock held.
    private func putBack(_ reading: Reading) {
        guard reading.next < frameCount else { return }
        let other = state.withLock { state -> Reading? in
            defer { state.reading = reading }
            kept.store(decoderBytes, ordering: .relaxed)
            return state.reading
        }
        withExtendedLifetime(other) {}
    }
}
