internal import SDDBase

/// Decodes the first frame of an animation in place of a still picture that is none of its frames (PNG, Third Edition,
/// 4.9). The still picture is decoded if the animation breaks the rules of its format or has too many frames, or if the
/// frame is damaged and that is allowed. Callable from any thread, by one thread at a time.
final class FirstFrameReader: PictureReading {
    private let coder: any ImageCoding
    private let task: DecodeTask
    /// The body so far.
    private var bytes: Bytes?
    private var hasShown = false
    private(set) var goodRows: Int?

    init(_ coder: any ImageCoding, _ task: DecodeTask) { (self.coder, self.task) = (coder, task) }

    func read(_ bytes: Bytes, isLast: Bool) throws(CoderError) -> PixelBuffer? {
        self.bytes = isLast ? nil : bytes
        guard isLast else { return nil }
        do throws(CoderError) {
            if let pixels = try frame(bytes, isWhole: true) { return pixels }
            return try still(bytes)
        } catch {
            if error.kind == .tooManyFrames { return try still(bytes) }
            guard task.isLenient, error.kind == .corrupt || error.kind == .truncated else { throw error }
            let pixels = try still(bytes)
            goodRows = goodRows ?? pixels?.height
            return pixels
        }
    }

    private func still(_ bytes: Bytes) throws(CoderError) -> PixelBuffer? {
        let reader = try coder.makeReader(task)
        let pixels = try reader.read(bytes, isLast: true)
        goodRows = reader.goodRows
        return pixels
    }

    /// Returns the frame in the size of the task; `nil` if the bytes have none.
    private func frame(_ bytes: Bytes, isWhole: Bool) throws(CoderError) -> PixelBuffer? {
        let isDeep = task.wanted.source == .rgba16
        guard let frames = coder.frames(of: bytes, limits: task.limits, isWhole: isWhole, isDeep: isDeep) else {
            return nil
        }
        let canvas = try frames.frame(0)
        let plan = try task.plan(width: UInt32(canvas.width), height: UInt32(canvas.height))
        if plan.isWhole { return canvas }
        return try Reduction(
            width: canvas.width, height: canvas.height, plan: plan, storedWidth: canvas.width,
            storedHeight: canvas.height, format: canvas.format, isOpaque: false
        ).reduce(canvas, in: isWhole ? task.memory(for: canvas.format) : .library)
    }

    /// Shows the frame once it has arrived, as no byte changes it but one that breaks the rules of the animation.
    func preview(afterScans: Int) throws(CoderError) -> Preview? {
        guard let bytes, !hasShown || afterScans == 0 else { return nil }
        guard let pixels = try frame(bytes, isWhole: false) else { return nil }
        hasShown = true
        return Preview(pixels: pixels, goodRows: pixels.height)
    }
}
