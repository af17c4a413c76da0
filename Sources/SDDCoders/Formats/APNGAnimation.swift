package import SDDBase
import Synchronization

/// The frames of an animated PNG (PNG, Third Edition, 11.3.6 and 12.5), decoded by libpng on demand and composed here.
/// Keeps the file's bytes and some composed frames. Callable from any thread; concurrent calls each compose their own
/// frame.
package final class APNGAnimation: FrameSource {
    private let bytes: Bytes
    private let parsed: APNGParser
    private let limits: DecodeLimits
    /// Decodes each frame, as a PNG of its own.
    private let coder: any ImageCoding
    /// Fork generation in which the lock of `shared` may be taken.
    private let generation = ForkGeneration.current
    private let shared: Monitor<Shared>
    private let kept = Atomic(0)
    package let frameCount: Int
    /// The format of the canvas: RGBA8, or RGBA16 where the file has as many bits and they are wanted.
    private let format: PixelFormat
    /// The format of the frames: RGBA8 or RGBA16.
    private let given: PixelFormat

    private struct Shared {
        var cache: AnimationCache
        var decodedFrames = 0
    }

    /// Returns `nil` if the bytes are not a valid animation, or if its only frame is the still picture.
    /// - Parameters:
    ///   - isWhole: false for the beginning of a file; the frames are then those that have arrived completely.
    ///   - isDeep: true for frames of 16 bits a channel.
    ///   - coder: decodes PNGs.
    package init?(
        _ bytes: Bytes, limits: DecodeLimits, isWhole: Bool = true, isDeep: Bool = false,
        coder: any ImageCoding = PNGCoder()
    ) {
        var parser = APNGParser(mostFrames: limits.maxFrames)
        withExtendedLifetime(bytes) { parser.read(bytes.pointer) }
        guard parser.showsMore else { return nil }
        switch parser.outcome {
        case .complete: break
        case .goesOn: if isWhole { return nil }
        case .broken: return nil
        }
        self.bytes = bytes
        self.limits = limits
        self.coder = coder
        parsed = parser
        format = isDeep && parser.depth == 16 ? .rgba16 : .rgba8
        given = isDeep ? .rgba16 : .rgba8
        frameCount = parser.complete
        shared = Monitor(Shared(cache: AnimationCache(limit: limits.frameCacheBytes)))
    }

    /// Returns how many complete frames of an animation the beginning of a file has; 0 if it has no valid animation.
    package static func completeFrames(in bytes: Bytes) -> Int {
        var parser = APNGParser(mostFrames: 0)
        parser.read(bytes.pointer)
        if case .broken = parser.outcome { return 0 }
        return parser.complete
    }

    package var loopCount: Int { parsed.loopCount }

    package func duration(of index: Int) -> Int64 {
        parsed.frames.indices.contains(index) ? parsed.frames[index].duration : 0
    }

    package func frame(_ index: Int) throws(CoderError) -> PixelBuffer {
        try PixelConverter(canvas(index), to: given).make()
    }

    private func canvas(_ index: Int) throws(CoderError) -> PixelBuffer {
        guard frameCount <= limits.maxFrames, parsed.frames.indices.contains(index) else {
            throw CoderError(.tooManyFrames, "\(frameCount) frames")
        }
        let near = withShared { $0.cache.nearest(to: index) } ?? nil
        if let near, near.index == index { return near.canvas }
        let made = try compose(index, from: near)
        let dropped = withShared { shared in
            defer { kept.store(shared.cache.pixelByteCount, ordering: .relaxed) }
            return shared.cache.insert(made)
        }
        return withExtendedLifetime(dropped) { made.canvas }
    }

    package var encodedByteCount: Int { bytes.count }
    package var keptByteCount: Int { kept.load(ordering: .relaxed) }

    /// Number of frames decoded so far, for tests.
    package var decodedFrames: Int { withShared { $0.decodedFrames } ?? 0 }

    /// Runs `body` with the lock held. Returns `nil` in the child of a fork, where the thread that holds the lock may
    /// not exist.
    private func withShared<Result>(_ body: (inout Shared) -> Result) -> Result? {
        generation == ForkGeneration.current ? shared.withLock { body(&$0) } : nil
    }
}

// MARK: - Composing

extension APNGAnimation {
    private func compose(_ index: Int, from near: ComposedFrame?) throws(CoderError) -> ComposedFrame {
        let clock = DecodeClock(limits, byteCount: bytes.count)
        let start = firstNeeded(for: index)
        let canvas: AnimationCanvas
        var next = start
        if let near, near.index >= start {
            canvas = try AnimationCanvas(copying: near.canvas)
            dispose(of: parsed.frames[near.index], on: canvas, covered: near.covered)
            next = near.index + 1
        } else {
            canvas = try AnimationCanvas(width: parsed.width, height: parsed.height, format)
        }
        while true {
            let frame = parsed.frames[next]
            let covered = frame.disposal == .previous ? try canvas.part(frame.area) : nil
            try clock.check()
            try draw(frame, on: canvas)
            if next == index { return ComposedFrame(index: index, canvas: canvas.pixels, covered: covered) }
            dispose(of: frame, on: canvas, covered: covered)
            next += 1
        }
    }

    /// Returns the latest frame up to `index` that does not depend on earlier frames: it fills the canvas, or is drawn
    /// on an empty one.
    private func firstNeeded(for index: Int) -> Int {
        var first = index
        while first > 0 {
            let frame = parsed.frames[first], before = parsed.frames[first - 1]
            let isWhole = frame.area.covers(parsed.width, parsed.height)
            if isWhole && frame.blend == .source && frame.disposal != .previous { return first }
            if before.disposal == .background && before.area.covers(parsed.width, parsed.height) { return first }
            first -= 1
        }
        return 0
    }

    private func draw(_ frame: APNGFrame, on canvas: AnimationCanvas) throws(CoderError) {
        let file = try APNGFrameFile.make(of: frame, among: parsed, in: bytes.pointer)
        let task = DecodeTask(wanted: format, memory: .library, limits: limits, isLenient: false, isExact: true)
        guard let pixels = try coder.makeReader(task).read(file, isLast: true) else { throw CoderError(.truncated) }
        guard pixels.width == frame.area.width, pixels.height == frame.area.height, pixels.format == format else {
            throw CoderError(.corrupt, "a frame of another size")
        }
        withShared { $0.decodedFrames += 1 }
        switch frame.blend {
        case .source: canvas.put(pixels, at: frame.area)
        case .over: canvas.blend(pixels, at: frame.area)
        }
    }

    private func dispose(of frame: APNGFrame, on canvas: AnimationCanvas, covered: PixelBuffer?) {
        switch frame.disposal {
        case .none: break
        case .background: canvas.clear(frame.area)
        case .previous: covered.map { canvas.put($0, at: frame.area) }
        }
    }
}
