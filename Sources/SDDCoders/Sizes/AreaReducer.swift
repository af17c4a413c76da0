/// Scales a picture while its rows arrive. Each pixel of a smaller picture is the mean of the area that it covers, with
/// colours weighted by alpha. In a direction in which the picture is enlarged, it interpolates linearly between the two
/// nearest pixels. Works on RGBA8 or RGBA16, for both the source and the target. Keeps one row of sums and at most one
/// of pixels, however large the picture is. Callable from any thread, by one thread at a time.
final class AreaReducer {
    let target: PixelBuffer
    private let isOpaque: Bool
    private let hasInks: Bool
    private let columns: Scratch<PixelSpan>
    private let rows: Scratch<PixelSpan>
    /// The range of pixels used from each source row: `count` pixels from `left` on.
    private let left: Int
    private let count: Int
    /// Sums of the source rows that make up the next target row.
    private let sums: Scratch<SIMD4<Float>>
    /// The previous source row; kept for vertical enlargement, where one source row contributes to several target rows.
    private let previous: Scratch<UInt8>?
    /// Indices of the next source row to arrive and of the next target row to write.
    private var sourceRow = 0
    private var targetRow = 0

    /// - Parameters:
    ///   - width, height: size of the picture whose rows arrive.
    ///   - plan: in the pixels of the picture as stored, `storedWidth` x `storedHeight`.
    ///   - target: as large as the plan says; RGBA8 or RGBA16, like the rows.
    ///   - isOpaque: true if no pixel is transparent.
    ///   - hasInks: true if the fourth channel of opaque pixels is an ink.
    /// - Throws: if there is no memory.
    init(
        width: Int, height: Int, plan: SizePlan, storedWidth: Int, storedHeight: Int, into target: PixelBuffer,
        isOpaque: Bool, hasInks: Bool = false
    ) throws(CoderError) {
        self.target = target
        self.isOpaque = isOpaque
        self.hasInks = hasInks
        let (scaleX, scaleY) = (Double(width) / Double(storedWidth), Double(height) / Double(storedHeight))
        let partHeight = plan.partHeight * scaleY
        columns = try PixelSpan.all(target.width, from: plan.x * scaleX, length: plan.partWidth * scaleX, of: width)
        rows = try PixelSpan.all(target.height, from: plan.y * scaleY, length: partHeight, of: height)
        left = Int(columns.base[0].first)
        count = Int(columns.base[target.width - 1].last) - left + 1
        sums = try Scratch(count)
        previous = partHeight < Double(target.height) ? try Scratch(count * target.format.bytesPerPixel) : nil
    }

    /// Calls a C function with a callback that takes its rows, and the callback's context.
    func takeRows<Status>(
        of decode: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?) -> Void, UnsafeMutableRawPointer)
            -> Status
    ) -> Status {
        withExtendedLifetime(self) {
            // Safety: this object lives until `decode` has returned; each row has as many pixels as `width` says.
            decode(
                { reducer, row in
                    guard let reducer, let row else { return }
                    Unmanaged<AreaReducer>.fromOpaque(reducer).takeUnretainedValue().take(row)
                }, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    /// Number of complete rows of the target, from the top.
    var rowsMade: Int { targetRow }

    /// Returns how many rows of the target, from the top, are made only from the first `count` source rows.
    func rows(madeOf count: Int) -> Int {
        var made = 0
        while made < target.height, rows.base[made].last < count { made += 1 }
        return made
    }

    /// Takes the next source row, from the top.
    func take(_ source: UnsafeRawPointer) {
        let row = source + left * target.format.bytesPerPixel
        // The last source row of one target row is often the first one of the next.
        while targetRow < target.height, sourceRow >= rows.base[targetRow].first {
            let span = rows.base[targetRow]
            if let previous {
                guard sourceRow == span.last else { break }
                if span.first < span.last { add(previous.base, weight: span.firstWeight, isNew: true) }
                add(row, weight: span.weight(of: sourceRow), isNew: span.first == span.last)
            } else {
                add(row, weight: span.weight(of: sourceRow), isNew: sourceRow == span.first)
                guard sourceRow == span.last else { break }
            }
            write()
            targetRow += 1
        }
        if let previous { UnsafeMutableRawPointer(previous.base).copyMemory(from: row, byteCount: bytesOfRow) }
        sourceRow += 1
    }

    private var bytesOfRow: Int { count * target.format.bytesPerPixel }

    private func add(_ row: UnsafeRawPointer, weight: Float, isNew: Bool) {
        if target.format == .rgba16 {
            RowSums<UInt16>(base: sums.base, count: count).add(row, weight: weight, isNew: isNew, isOpaque: isOpaque)
        } else {
            RowSums<UInt8>(base: sums.base, count: count).add(row, weight: weight, isNew: isNew, isOpaque: isOpaque)
        }
    }

    /// Writes the target row whose sums are complete.
    private func write() {
        let place = target.base + targetRow * target.stride
        if target.format == .rgba16 {
            let row = place.assumingMemoryBound(to: UInt16.self)
            eachPixel(most: 65_535) { Self.store($1, to: row + $0 &* 4) }
        } else {
            let row = place.assumingMemoryBound(to: UInt8.self)
            eachPixel(most: 255) { Self.store($1, to: row + $0 &* 4) }
        }
    }

    @inline(__always)
    private func eachPixel(most: Float, _ store: (Int, SIMD4<Float>) -> Void) {
        let (sums, columns, isOpaque, hasInks) = (sums.base - left, columns.base, isOpaque, hasInks)
        for x in 0..<target.width {
            let span = columns[x]
            var sum = sums[Int(span.first)] * span.firstWeight
            if span.last > span.first {
                var middle = SIMD4<Float>.zero
                for index in span.first &+ 1..<span.last { middle += sums[Int(index)] }
                sum += middle * span.weight + sums[Int(span.last)] * span.lastWeight
            }
            // A nearly transparent pixel has no usable colour.
            let alpha = isOpaque ? most : sum.w
            var pixel = alpha > 0.001 ? sum * (most / alpha) : .zero
            pixel.w = hasInks ? sum.w : alpha
            store(x, pixel)
        }
    }

    /// Stores a pixel. Its values exceed the range of a channel at most by rounding errors.
    @inline(__always)
    private static func store<Channel: FixedWidthInteger>(
        _ pixel: SIMD4<Float>, to place: UnsafeMutablePointer<Channel>
    ) {
        // The addition rounds: a float from 2^23 on is an integer, held in its lowest bits.
        let numbers = unsafeBitCast(pixel + 0x1p23, to: SIMD4<UInt32>.self)
        let channel = { Channel(truncatingIfNeeded: min($0 & 0x7f_ffff, UInt32(truncatingIfNeeded: Channel.max))) }
        place[0] = channel(numbers.x)
        place[1] = channel(numbers.y)
        place[2] = channel(numbers.z)
        place[3] = channel(numbers.w)
    }
}
