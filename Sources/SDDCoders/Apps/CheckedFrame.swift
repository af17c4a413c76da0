internal import SDDBase

/// A frame from an application's coder that has passed all checks. Its pixels are borrowed, like those of the
/// `AppFrame`.
struct CheckedFrame {
    private let base: UnsafeRawPointer
    private let stride: Int
    private let format: PixelFormat
    let width: Int
    let height: Int
    let pictureWidth: Int
    let pictureHeight: Int
    let orientation: Int
    let frameCount: Int
    let loopCount: Int
    /// Time for which the frame is shown, in microseconds.
    let duration: Int64
    private let profile: UnsafeRawBufferPointer
    private let codePoints: CodePoints?
    /// Number of good rows of a damaged body; `nil` if the body is whole.
    let goodRows: Int?
    private let isDrawn: Bool

    /// Checks a frame.
    /// - Parameter isDrawn: true if it may be larger than its picture.
    /// - Throws: `.coder` if the frame's fields are invalid.
    init(_ frame: AppFrame, maxPixels: Int, isDrawn: Bool = false) throws(CoderError) {
        guard frame.width > 0, frame.height > 0 else {
            throw CoderError(.coder, "a frame of \(frame.width) x \(frame.height) pixels")
        }
        (width, height) = (Int(frame.width), Int(frame.height))
        guard let format = PixelFormat(rawValue: frame.pixelFormat), format.planeCount == 1, format.source == .rgba8
        else {
            throw CoderError(.coder, "a frame of pixel format \(frame.pixelFormat)")
        }
        // The product is below Int.max, since a side has 31 bits.
        guard frame.stride >= width * format.bytesPerPixel,
            !frame.stride.multipliedReportingOverflow(by: height).overflow
        else { throw CoderError(.coder, "a frame of \(width) pixels in rows of \(frame.stride) bytes") }
        guard (0...255).contains(frame.primaries), (0...255).contains(frame.transfer) else {
            throw CoderError(.coder, "a frame with code points of more than 8 bits")
        }
        guard let pixels = frame.pixels else { throw CoderError(.coder, "a frame without pixels") }
        guard (0...8).contains(frame.orientation), frame.frameCount >= 0, frame.loopCount >= 0, frame.duration >= 0,
            (0...frame.height).contains(frame.goodRows)
        else { throw CoderError(.coder, "a frame with impossible numbers, or no orientation") }
        if frame.pictureWidth == 0 && frame.pictureHeight == 0 {
            (pictureWidth, pictureHeight) = (width, height)
        } else {
            (pictureWidth, pictureHeight) = (Int(frame.pictureWidth), Int(frame.pictureHeight))
            guard pictureWidth > 0, pictureHeight > 0, isDrawn || (pictureWidth >= width && pictureHeight >= height)
            else { throw CoderError(.coder, "a frame larger than its picture") }
        }
        try PixelBuffer.check(
            width: UInt32(isDrawn ? width : pictureWidth), height: UInt32(isDrawn ? height : pictureHeight),
            maxPixels: maxPixels)
        (base, stride, self.format, self.isDrawn) = (pixels, frame.stride, format, isDrawn)
        orientation = max(1, Int(frame.orientation))
        frameCount = max(1, Int(frame.frameCount))
        loopCount = Int(frame.loopCount)
        duration = frame.duration
        profile = frame.profile
        codePoints = Self.codePoints(frame)
        goodRows = frame.goodRows > 0 ? Int(frame.goodRows) : nil
    }

    /// Bytes of the coder's memory that hold the frame's pixels.
    var byteCount: Int { stride * height }

    var isWhole: Bool { width == pictureWidth && height == pictureHeight }

    /// Returns a copy of the pixels as RGBA8.
    /// - Parameter rows: number of rows to copy; the others stay empty.
    func whole(rows: Int = .max) throws(CoderError) -> PixelBuffer {
        let made = try PixelBuffer.make(width: width, height: height, .rgba8)
        if rows < height { made.clear(from: rows) }
        for y in 0..<min(rows, height) {
            format.readRow(base + y * stride, width: width, to: made.base + y * made.stride)
        }
        return made
    }

    /// Returns a copy of the pixels as RGBA8, or a smaller picture made from them.
    /// - Parameter plan: made for the whole picture.
    /// - Returns: also the number of its good rows, if the body is damaged.
    func pixels(_ plan: SizePlan) throws(CoderError) -> (pixels: PixelBuffer, goodRows: Int?) {
        let made = try preview(plan, rows: height, good: goodRows)
        return (made.pixels, goodRows == nil ? nil : made.goodRows)
    }

    /// Returns a copy of the first rows of the frame as RGBA8, or a smaller picture made from them. Rows of the result
    /// that need further rows of the frame stay empty.
    /// - Parameter good: number of rows that are good, if not all of them are.
    func preview(_ plan: SizePlan, rows: Int, good: Int? = nil) throws(CoderError) -> Preview {
        let isUncut = plan.partWidth == Double(pictureWidth) && plan.partHeight == Double(pictureHeight)
        if isUncut && width == plan.width && height == plan.height {
            return Preview(pixels: try whole(rows: rows), goodRows: good ?? rows)
        }
        let least = (
            leastSide(pictureWidth, made: plan.width, from: plan.partWidth),
            leastSide(pictureHeight, made: plan.height, from: plan.partHeight)
        )
        guard !plan.isWhole || width >= pictureWidth && height >= pictureHeight, Double(width) > least.0,
            Double(height) > least.1
        else {
            throw CoderError(.coder, "a frame of \(width) x \(height) pixels, which is less than was wanted")
        }
        let reduction = Reduction(
            width: width, height: height, plan: plan, storedWidth: pictureWidth, storedHeight: pictureHeight,
            format: .rgba8, isOpaque: !format.hasAlpha)
        let reducer = try reduction.makeReducer()
        let row = try PixelBuffer.make(width: width, height: 1, .rgba8)
        if rows < height { reducer.target.clear(from: 0) }
        for y in 0..<min(rows, height) {
            format.readRow(base + y * stride, width: width, to: row.base)
            reducer.take(row.base)
        }
        return Preview(
            pixels: reducer.target, goodRows: good.map { reducer.rows(madeOf: $0) } ?? reducer.rowsMade)
    }

    /// Returns what a side of the frame must exceed, so that `made` pixels can be made from `part` of the picture's side.
    private func leastSide(_ side: Int, made: Int, from part: Double) -> Double {
        let wanted = Double(side) * Double(made) / part
        // Sides are rounded, so a frame may be one pixel too small. A picture is enlarged here, unless it is drawn.
        return (isDrawn ? wanted : min(wanted, Double(side))) - 1
    }

    private static func codePoints(_ frame: AppFrame) -> CodePoints? {
        if frame.primaries == 0 && frame.transfer == 0 { return nil }
        let number = { (given: Int32) in given == 0 ? CodePoints.unspecified : Int(given) }
        return CodePoints(
            primaries: number(frame.primaries), transfer: number(frame.transfer), isOfStills: true)
    }

    /// The colours that the picture states. Pixels of inks have become colours already.
    private var colour: PictureColour? {
        var description = ColourDescription()
        if profile.count <= ColourDescription.largestProfile, !profile.isEmpty {
            description.profile = Bytes(copying: profile)
        }
        description.codePoints = codePoints
        // A coder may give greys as colours.
        description.isGrey = true
        return KnownColours.ofProcess.colour(of: description)
    }

    func facts(_ format: ImageFormat) -> ImageFacts? {
        do throws(ImageFacts.Failure) {
            var facts = try ImageFacts(
                format: format, width: pictureWidth, height: pictureHeight, channels: self.format.bytesPerPixel,
                depth: 8, isProgressive: false)
            facts.frameCount = frameCount
            facts.loopCount = frameCount > 1 ? loopCount : 1
            facts.orientation = orientation
            facts.colour = colour
            return facts
        } catch {
            return nil
        }
    }
}
