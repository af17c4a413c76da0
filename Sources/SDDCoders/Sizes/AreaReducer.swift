/// Makes a smaller picture of the rows of a larger one as they come: each new pixel is the mean of the area that it
/// covers, with colours weighted by their alpha. In a direction in which the picture is to become larger, it is linear
/// between the two pixels beside it. RGBA8 to RGBA8, or RGBA16 to RGBA16. Keeps a row of sums and one of pixels, however
/// large the picture. Any thread, one at a time.
final class AreaReducer {
    let target: PixelBuffer
    private let isOpaque: Bool
    private let columns: Scratch<PixelSpan>
    private let rows: Scratch<PixelSpan>
    /// The pixels of a source row that are looked at: from `left` on.
    private let left: Int
    private let count: Int
    /// Of the rows that make the one to come.
    private let sums: Scratch<SIMD4<Float>>
    /// The row before, where one row goes into several that it does not end.
    private let previous: Scratch<UInt8>?
    /// The next to come, and to be made.
    private var sourceRow = 0
    private var targetRow = 0

    /// - Parameters:
    ///   - width, height: of the picture whose rows come.
    ///   - plan: in the pixels of the picture as stored, `storedWidth` x `storedHeight`.
    ///   - target: as large as the plan says; RGBA8 or RGBA16, as are the rows.
    ///   - isOpaque: nothing in it is transparent.
    /// - Throws: when there is no memory.
    init(
        width: Int, height: Int, plan: SizePlan, storedWidth: Int, storedHeight: Int, into target: PixelBuffer,
        isOpaque: Bool
    ) throws(CoderError) {
        self.target = target
        self.isOpaque = isOpaque
        let (scaleX, scaleY) = (Double(width) / Double(storedWidth), Double(height) / Double(storedHeight))
        let partHeight = plan.partHeight * scaleY
        columns = try PixelSpan.all(target.width, from: plan.x * scaleX, length: plan.partWidth * scaleX, of: width)
        rows = try PixelSpan.all(target.height, from: plan.y * scaleY, length: partHeight, of: height)
        left = Int(columns.base[0].first)
        count = Int(columns.base[target.width - 1].last) - left + 1
        sums = try Scratch(count)
        previous = partHeight < Double(target.height) ? try Scratch(count * target.format.bytesPerPixel) : nil
    }

    /// Calls a function of C with what its rows come here by: a callback and its context.
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

    /// Of the new picture, from the top.
    var rowsMade: Int { targetRow }

    /// How many rows of the new picture, from the top, are made of the first `count` rows alone.
    func rows(madeOf count: Int) -> Int {
        var made = 0
        while made < target.height, rows.base[made].last < count { made += 1 }
        return made
    }

    /// The next row, from the top.
    func take(_ source: UnsafeRawPointer) {
        let row = source + left * target.format.bytesPerPixel
        // The last row of one is often the first of the next.
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

    /// The row whose sums are complete.
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
        let (sums, columns, isOpaque) = (sums.base - left, columns.base, isOpaque)
        for x in 0..<target.width {
            let span = columns[x]
            var sum = sums[Int(span.first)] * span.firstWeight
            if span.last > span.first {
                var middle = SIMD4<Float>.zero
                for index in span.first &+ 1..<span.last { middle += sums[Int(index)] }
                sum += middle * span.weight + sums[Int(span.last)] * span.lastWeight
            }
            // Of what is all but transparent there is no colour.
            let alpha = isOpaque ? most : sum.w
            var pixel = alpha > 0.001 ? sum * (most / alpha) : .zero
            pixel.w = alpha
            store(x, pixel)
        }
    }

    /// Of numbers that are, but for the arithmetic, not more than a channel holds.
    @inline(__always)
    private static func store<Channel: FixedWidthInteger>(
        _ pixel: SIMD4<Float>, to place: UnsafeMutablePointer<Channel>
    ) {
        // A float of 2^23 and more is a whole number, in its lowest bits: the addition has rounded it.
        let numbers = unsafeBitCast(pixel + 0x1p23, to: SIMD4<UInt32>.self)
        let channel = { Channel(truncatingIfNeeded: min($0 & 0x7f_ffff, UInt32(truncatingIfNeeded: Channel.max))) }
        place[0] = channel(numbers.x)
        place[1] = channel(numbers.y)
        place[2] = channel(numbers.z)
        place[3] = channel(numbers.w)
    }
}
