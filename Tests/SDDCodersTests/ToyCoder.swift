import SDDBase
import SDDCoders

/// A coder of a format that begins with one byte. Each further byte is a frame of one pixel, grey or as `change` makes
/// it. Calls are recorded in `log`.
final class ToyCoder: AppCoder {
    let name: String
    let format: ImageFormat
    let canEncode: Bool
    let first: UInt8
    /// The number of bytes that it needs in order to decide.
    let least: Int
    let isAnimated: Bool
    /// What its decoders say before the first frame.
    let needs: AppEstimate
    /// Whether byte 0xff, which stands for a cut, is a frame where the rest of damaged bodies is kept.
    let keepsCuts: Bool
    let log = Monitor<[String]>([])
    private let change: @Sendable (inout AppFrame) -> Void
    private let ended: @Sendable () -> Void

    init(
        _ name: String = "toy", format: Int32 = 1000, first: UInt8 = 7, least: Int = 1, canEncode: Bool = false,
        isAnimated: Bool = false, needs: AppEstimate = .unknown, keepsCuts: Bool = false,
        change: @escaping @Sendable (inout AppFrame) -> Void = { _ in },
        ended: @escaping @Sendable () -> Void = {}
    ) {
        self.name = name
        self.format = ImageFormat(rawValue: format)!
        self.first = first
        self.least = least
        self.canEncode = canEncode
        self.isAnimated = isAnimated
        self.needs = needs
        self.keepsCuts = keepsCuts
        self.ended = ended
        self.change = change
    }

    deinit { ended() }

    func canDecode(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        bytes.count < least ? nil : bytes.first == first
    }

    func open(_ task: AppDecodeTask) throws(CoderError) -> any AppDecoder {
        log.withLock { $0.append("open \(task.wantedSide)") }
        return ToyDecoder(self, keepsCuts: keepsCuts && task.keepsRest, change)
    }

    func encode(
        _ pixels: PixelBuffer, _ colour: StoredColour, quality: Int, into bytes: ByteBuilder
    ) throws(CoderError) {
        guard quality > 1 else { throw CoderError(.unsupported) }
        var head = [first, UInt8(pixels.width), UInt8(pixels.height), UInt8(quality)]
        guard bytes.append(&head, count: 4), bytes.append(pixels.base, count: 4) else { throw CoderError(.noMemory) }
    }
}

private final class ToyDecoder: AppDecoder {
    private let coder: ToyCoder
    private let keepsCuts: Bool
    private let change: (inout AppFrame) -> Void
    private var bytes: [UInt8] = []
    private var place = 1
    private let pixels = UnsafeMutablePointer<UInt8>.allocate(capacity: 4096)

    init(_ coder: ToyCoder, keepsCuts: Bool, _ change: @escaping (inout AppFrame) -> Void) {
        self.coder = coder
        self.keepsCuts = keepsCuts
        self.change = change
        for index in 0..<4096 { pixels[index] = UInt8(truncatingIfNeeded: index) }
    }

    deinit { pixels.deallocate() }

    func feed(_ piece: UnsafeRawBufferPointer, isLast: Bool) throws(CoderError) {
        bytes += Array(piece)
        if bytes.count < 8 && bytes.contains(0xee) { throw CoderError(.corrupt, "0xee") }
    }

    func estimate() throws(CoderError) -> AppEstimate { coder.needs }

    func next() throws(CoderError) -> AppAnswer {
        guard place < bytes.count else { return .end }
        if bytes[place] == 0xff, !keepsCuts { return .incomplete }
        coder.log.withLock { $0.append("frame \(place - 1)") }
        if coder.isAnimated { pixels[0] = bytes[place] }
        var frame = AppFrame()
        frame.pixels = UnsafeRawPointer(pixels)
        (frame.width, frame.height, frame.stride, frame.pixelFormat) = (1, 1, 1, 6)
        frame.frameCount = coder.isAnimated ? 4 : 1
        frame.duration = Int64(place) * 1000
        change(&frame)
        place += 1
        return .frame(frame)
    }

    func close() { coder.log.withLock { $0.append("close") } }
}
