/// Reads the chunks of an animated PNG in order (PNG, Third Edition, 11.3.6). A value without pixels. The parser is
/// strict: a file that breaks a rule has no animation and is shown as a still picture.
struct APNGParser {
    /// State of the parser after the chunks read so far.
    enum Outcome {
        case goesOn
        /// The end of the file was reached, with as many frames as were announced.
        case complete
        /// There is no animation, or it breaks the rules.
        case broken
    }

    private(set) var outcome = Outcome.goesOn
    /// Size of the canvas, in pixels.
    private(set) var width = 0
    private(set) var height = 0
    /// Bits per channel, or of a place in the palette.
    private(set) var depth = 0
    /// Number of times the animation plays; 0 means forever.
    private(set) var loopCount = 0
    /// The frames that have begun, at most `mostFrames`.
    private(set) var frames: [APNGFrame] = []
    /// True if the still picture is none of the frames.
    private(set) var hidesStill = false
    /// Number of all frames that have begun.
    private(set) var begun = 0
    /// Byte ranges of the chunks that affect the pixels of all frames: PLTE and tRNS.
    private(set) var sharedChunks: [Range<Int>] = []
    /// Byte range of the data of IHDR.
    private(set) var header: Range<Int>?

    private enum Stage { case beforePixels, inPixels, afterPixels }

    private let mostFrames: Int
    private var stage = Stage.beforePixels
    private var announced: Int?
    private var nextSequenceNumber = 0
    /// Whether the frame that began last has the still picture's data.
    private var isPicture = false
    private var data: Range<Int>?
    private var isOpen = false

    /// - Parameter mostFrames: the largest number of frames to keep; further frames are only counted.
    init(mostFrames: Int) { self.mostFrames = mostFrames }

    /// Number of frames whose data is complete.
    var complete: Int { isOpen ? begun - 1 : begun }

    /// Whether there is more to show than the still picture.
    var showsMore: Bool { complete > (hidesStill ? 0 : 1) }

    /// Reads chunks until the animation ends or breaks the rules, or until the bytes are used up.
    mutating func read(_ bytes: UnsafeRawBufferPointer) {
        var chunks = PNGChunks(bytes)
        while case .goesOn = outcome, let chunk = chunks.next() { take(chunk) }
        if header == nil { outcome = .broken }
    }

    mutating func take(_ chunk: PNGChunk) {
        // An incomplete chunk already tells something by its name.
        if stage == .inPixels, chunk.name != .IDAT {
            stage = .afterPixels
            if isPicture { closeFrame() }
        }
        if chunk.name == .fcTL || chunk.name == .IEND, data != nil { closeFrame() }
        guard chunk.isWhole else { return }
        if header == nil, chunk.name != .IHDR { return breaks() }
        switch chunk.name {
        case .IHDR: takeHeader(chunk)
        case .acTL: takeAnimation(chunk)
        case .PLTE, .tRNS: takeShared(chunk)
        case .fcTL: takeFrame(chunk)
        case .IDAT: takePixels(chunk)
        case .fdAT: takeFrameData(chunk)
        case .IEND: outcome = begun == announced && !isOpen ? .complete : .broken
        default: break
        }
    }

    private mutating func breaks() { outcome = .broken }

    // MARK: - Chunks for all frames

    /// Reads the size and the depth from IHDR (11.2.1). libpng checks the other fields.
    private mutating func takeHeader(_ chunk: PNGChunk) {
        var cursor = ByteCursor(chunk.data)
        guard header == nil, chunk.data.count == 13, let width = cursor.number32(), let height = cursor.number32(),
            let depth = cursor.number8(), width > 0, height > 0, width <= Int32.max, height <= Int32.max
        else { return breaks() }
        (self.width, self.height, self.depth) = (width, height, depth)
        header = chunk.range.lowerBound + 8..<chunk.range.upperBound - 4
    }

    /// Reads acTL (11.3.6.1).
    private mutating func takeAnimation(_ chunk: PNGChunk) {
        // acTL has no meaning after the first pixels.
        guard stage == .beforePixels else { return }
        var cursor = ByteCursor(chunk.data)
        let most = Int(Int32.max)
        guard announced == nil, chunk.data.count == 8, let frames = cursor.number32(), let plays = cursor.number32(),
            (1...most).contains(frames), plays <= most, chunk.isIntact
        else { return breaks() }
        announced = frames
        loopCount = plays
    }

    private mutating func takeShared(_ chunk: PNGChunk) {
        guard stage == .beforePixels else { return }
        // A palette has at most 256 colours. The chunks are copied for each frame, so invalid ones must not be large.
        guard sharedChunks.count < 2, chunk.data.count <= 768 else { return breaks() }
        sharedChunks.append(chunk.range)
    }

    // MARK: - Frames

    private mutating func takeSequenceNumber(_ cursor: inout ByteCursor) -> Bool {
        guard cursor.number32() == nextSequenceNumber else { return false }
        nextSequenceNumber += 1
        return true
    }

    /// Reads fcTL (11.3.6.2).
    private mutating func takeFrame(_ chunk: PNGChunk) {
        var cursor = ByteCursor(chunk.data)
        guard announced != nil, !isOpen, chunk.data.count == 26, chunk.isIntact, takeSequenceNumber(&cursor),
            let frame = APNGFrame(&cursor, canvasWidth: width, height: height)
        else { return breaks() }
        isPicture = stage == .beforePixels
        // The frame of the still picture is as large as the canvas.
        if isPicture, begun > 0 || !frame.area.covers(width, height) { return breaks() }
        isOpen = true
        begun += 1
        if begun <= mostFrames { frames.append(frame) }
    }

    private mutating func takePixels(_ chunk: PNGChunk) {
        guard announced != nil, stage != .afterPixels else { return breaks() }
        stage = .inPixels
        if isPicture { addData(chunk) } else { hidesStill = true }
    }

    /// Reads fdAT (11.3.6.3).
    private mutating func takeFrameData(_ chunk: PNGChunk) {
        var cursor = ByteCursor(chunk.data)
        guard stage == .afterPixels, isOpen, !isPicture, takeSequenceNumber(&cursor) else { return breaks() }
        addData(chunk)
    }

    private mutating func addData(_ chunk: PNGChunk) {
        data = (data?.lowerBound ?? chunk.range.lowerBound)..<chunk.range.upperBound
    }

    private mutating func closeFrame() {
        guard isOpen, let data else { return }
        if begun <= mostFrames, let last = frames.indices.last { frames[last].data = data }
        self.data = nil
        isOpen = false
    }
}
