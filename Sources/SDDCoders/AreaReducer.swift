internal import SDDBase

/// Makes a smaller picture of the rows of a larger one as they come: each new pixel is the mean of the area that it
/// covers, with colours weighted by their alpha. RGBA8 to RGBA8. Keeps two rows of sums, however large the picture.
/// Any thread, one at a time.
final class AreaReducer {
    let target: PixelBuffer
    private let isOpaque: Bool
    private let columns: [Span]
    private let rows: [Span]
    /// Sums of the row that came last, and of the rows that make the one to come.
    private let row: UnsafeMutablePointer<SIMD4<Float>>
    private let sums: UnsafeMutablePointer<SIMD4<Float>>
    /// The next to come, and to be made.
    private var sourceRow = 0
    private var targetRow = 0

    /// Where one new pixel lies among the old ones, in one direction; the weights come to 1.
    private struct Span {
        let first: Int
        let last: Int
        let firstWeight: Float
        let weight: Float
        let lastWeight: Float

        /// - Parameters:
        ///   - start, end: in pixels, end behind start.
        ///   - count: how many there are.
        init(from start: Double, to end: Double, of count: Int) {
            first = max(0, min(Int(start), count - 1))
            last = max(first, min(Int(end.rounded(.up)) - 1, count - 1))
            let length = end - start
            weight = Float(1 / length)
            firstWeight = first == last ? 1 : Float((Double(first + 1) - start) / length)
            lastWeight = Float((end - Double(last)) / length)
        }

        func weight(of index: Int) -> Float { index == first ? firstWeight : index == last ? lastWeight : weight }
    }

    /// - Parameters:
    ///   - width, height: of the picture whose rows come: at least those of the part.
    ///   - plan: in the pixels of the picture as stored, `storedWidth` x `storedHeight`.
    ///   - isOpaque: nothing in it is transparent.
    init(
        width: Int, height: Int, plan: SizePlan, storedWidth: Int, storedHeight: Int, into target: PixelBuffer,
        isOpaque: Bool
    ) {
        self.target = target
        self.isOpaque = isOpaque
        let (scaleX, scaleY) = (Double(width) / Double(storedWidth), Double(height) / Double(storedHeight))
        columns = Self.spans(target.width, from: plan.x * scaleX, length: plan.partWidth * scaleX, of: width)
        rows = Self.spans(target.height, from: plan.y * scaleY, length: plan.partHeight * scaleY, of: height)
        row = .allocate(capacity: target.width)
        sums = .allocate(capacity: target.width)
        row.initialize(repeating: .zero, count: target.width)
        sums.initialize(repeating: .zero, count: target.width)
    }

    deinit {
        row.deallocate()
        sums.deallocate()
    }

    private static func spans(_ count: Int, from start: Double, length: Double, of pixels: Int) -> [Span] {
        let step = length / Double(count)
        return (0..<count).map { Span(from: start + Double($0) * step, to: start + Double($0 + 1) * step, of: pixels) }
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

    /// The next row, from the top.
    func take(_ source: UnsafeRawPointer) {
        defer { sourceRow += 1 }
        guard targetRow < rows.count, sourceRow >= rows[targetRow].first else { return }
        if isOpaque { sumColumns(source) { Self.opaque($0) } } else { sumColumns(source) { Self.weighted($0) } }
        // The last row of one is often the first of the next.
        while targetRow < rows.count, sourceRow >= rows[targetRow].first {
            let span = rows[targetRow]
            let weight = span.weight(of: sourceRow)
            for x in 0..<target.width { sums[x] += row[x] * weight }
            guard sourceRow == span.last else { return }
            write()
            targetRow += 1
        }
    }

    @inline(__always)
    private func sumColumns(_ source: UnsafeRawPointer, _ pixel: (UnsafeRawPointer) -> SIMD4<Float>) {
        for x in 0..<columns.count {
            let span = columns[x]
            let first = pixel(source + span.first * 4)
            guard span.last > span.first else {
                row[x] = first
                continue
            }
            var middle = SIMD4<Float>.zero
            var place = source + (span.first + 1) * 4
            for _ in (span.first + 1)..<span.last {
                middle += pixel(place)
                place += 4
            }
            row[x] = first * span.firstWeight + middle * span.weight + pixel(place) * span.lastWeight
        }
    }

    @inline(__always)
    private static func opaque(_ place: UnsafeRawPointer) -> SIMD4<Float> {
        let word = UInt32(littleEndian: place.loadUnaligned(as: UInt32.self))
        return SIMD4(Float(word & 0xff), Float(word >> 8 & 0xff), Float(word >> 16 & 0xff), 255)
    }

    @inline(__always)
    private static func weighted(_ place: UnsafeRawPointer) -> SIMD4<Float> {
        let word = UInt32(littleEndian: place.loadUnaligned(as: UInt32.self))
        let alpha = Float(word >> 24)
        return SIMD4(Float(word & 0xff), Float(word >> 8 & 0xff), Float(word >> 16 & 0xff), 255) * (alpha / 255)
    }

    /// The row whose sums are complete.
    private func write() {
        var place = target.base + targetRow * target.stride
        for x in 0..<target.width {
            let sum = sums[x]
            sums[x] = .zero
            let alpha = isOpaque ? 255 : sum.w
            // Of what is all but transparent there is no colour.
            let colour = alpha > 0.001 ? sum * (255 / alpha) : .zero
            place.storeBytes(of: Self.byte(colour.x), as: UInt8.self)
            place.storeBytes(of: Self.byte(colour.y), toByteOffset: 1, as: UInt8.self)
            place.storeBytes(of: Self.byte(colour.z), toByteOffset: 2, as: UInt8.self)
            place.storeBytes(of: Self.byte(alpha), toByteOffset: 3, as: UInt8.self)
            place += 4
        }
    }

    @inline(__always)
    private static func byte(_ value: Float) -> UInt8 { UInt8(max(0, min(255, value + 0.5))) }
}
