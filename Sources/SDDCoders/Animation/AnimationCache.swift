/// One composed frame of an animation, with what it takes to go on from it.
struct ComposedFrame {
    let index: Int
    /// The canvas with the frame.
    let canvas: PixelBuffer
    /// What was in the frame's area before, for a frame that is taken away again.
    let covered: PixelBuffer?

    var byteCount: Int { canvas.byteCount + (covered?.byteCount ?? 0) }
}

/// The composed frames of an animation that are kept: the ones used last, up to a limit of bytes, and the very last
/// whatever it takes. A value.
struct AnimationCache {
    /// The one used last at the end.
    private var frames: [ComposedFrame] = []
    private let limit: Int
    private(set) var byteCount = 0

    init(limit: Int) { self.limit = limit }

    var indices: [Int] { frames.map(\.index) }

    /// Without what `byteCount` has for the entries themselves.
    var pixelByteCount: Int { frames.reduce(0) { $0 + $1.byteCount } }

    /// From which the way to a frame is the shortest: the frame itself, or the last one in front of it.
    mutating func nearest(to index: Int) -> ComposedFrame? {
        let before = frames.indices.filter { frames[$0].index <= index }
        guard let best = before.max(by: { frames[$0].index < frames[$1].index }) else { return nil }
        let frame = frames.remove(at: best)
        frames.append(frame)
        return frame
    }

    /// - Returns: what is kept no more, for the caller to let go of where no lock is held.
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

    /// With something for the entry itself, so that there are never many thousands.
    private static func cost(_ frame: ComposedFrame) -> Int { frame.byteCount + 16_384 }
}
