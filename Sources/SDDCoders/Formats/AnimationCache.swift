/// One composed frame of an animation, with the data that is needed to compose the next one from it.
struct ComposedFrame {
    let index: Int
    /// The canvas after the frame was drawn.
    let canvas: PixelBuffer
    /// Pixels that were in the frame's area before, if the frame is to be removed again.
    let covered: PixelBuffer?

    var byteCount: Int { canvas.byteCount + (covered?.byteCount ?? 0) }
}

/// The composed frames of an animation that are kept: the most recently used ones, up to a limit of bytes, and always
/// the last one. A value.
struct AnimationCache {
    /// The frames in order of use, the most recently used one last.
    private var frames: [ComposedFrame] = []
    private let limit: Int
    private(set) var byteCount = 0

    init(limit: Int) { self.limit = limit }

    var indices: [Int] { frames.map(\.index) }

    /// Bytes of the frames' pixels, without the overhead per entry that `byteCount` includes.
    var pixelByteCount: Int { frames.reduce(0) { $0 + $1.byteCount } }

    /// Returns the frame from which `index` is reached in the fewest steps: the frame itself, or the closest one before
    /// it.
    mutating func nearest(to index: Int) -> ComposedFrame? {
        let before = frames.indices.filter { frames[$0].index <= index }
        guard let best = before.max(by: { frames[$0].index < frames[$1].index }) else { return nil }
        let frame = frames.remove(at: best)
        frames.append(frame)
        return frame
    }

    /// Adds a frame.
    /// - Returns: the frames that were dropped, for the caller to release while it holds no lock.
    @discardableResult
    mutating func insert(_ frame: ComposedFrame) -> [ComposedFrame] {
        var dropped: [ComposedFrame] = []
        if let known = frames.firstIndex(where: { $0.index == frame.index }) { dropped.append(remove(at: known)) }
        frames.append(frame)
        byteCount += Self.cost(frame)
        while frames.count > 1, byteCount > limit { dropped.append(remove(at: 0)) }
        return dropped
    }

    private mutating func remove(at place: Int) -> ComposedFrame {
        let frame = frames.remove(at: place)
        byteCount -= Self.cost(frame)
        return frame
    }

    /// Returns the cost of an entry. It includes a fixed overhead, so that the cache never holds many thousands of
    /// entries.
    private static func cost(_ frame: ComposedFrame) -> Int { frame.byteCount + 16_384 }
}
