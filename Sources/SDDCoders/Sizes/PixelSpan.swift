/// The source pixels, in one direction, that a target pixel is made from. Their weights add up to 1.
struct PixelSpan: BitwiseCopyable {
    let first: Int32
    let last: Int32
    /// Weights of the first pixel, of each one between, and of the last. A single pixel has `firstWeight`.
    let firstWeight: Float
    let weight: Float
    let lastWeight: Float

    func weight(of index: Int) -> Float { index == first ? firstWeight : index == last ? lastWeight : weight }

    /// Creates the span of the area that a target pixel covers.
    /// - Parameters:
    ///   - start, end: in source pixels, with `end` after `start`.
    ///   - count: number of source pixels.
    private init(areaFrom start: Double, to end: Double, of count: Int) {
        let first = Self.index(start, of: count)
        let last = max(first, Self.index(end.rounded(.up) - 1, of: count))
        let length = end - start
        weight = Float(1 / length)
        firstWeight = first == last ? 1 : Float((Double(first + 1) - start) / length)
        lastWeight = Float((end - Double(last)) / length)
        self.first = Int32(clamping: first)
        self.last = Int32(clamping: last)
    }

    /// Creates the span of the two pixels next to a position; the nearer one has the larger weight.
    private init(nextTo place: Double, of count: Int) {
        // The centre of the first pixel is at 0.
        let place = max(0, min(place, Double(count - 1)))
        let first = Self.index(place, of: count)
        let share = Float(place - Double(first))
        self.first = Int32(clamping: first)
        last = Int32(clamping: share > 0 ? min(first + 1, count - 1) : first)
        firstWeight = last == self.first ? 1 : 1 - share
        weight = 0
        lastWeight = share
    }

    private static func index(_ place: Double, of count: Int) -> Int {
        place >= Double(count - 1) ? count - 1 : place > 0 ? Int(place) : 0
    }

    /// Returns the spans of `count` target pixels, made from the part of the source that begins at `start`: by area if
    /// the picture becomes smaller, else by linear interpolation.
    /// - Parameter pixels: number of source pixels.
    static func all(
        _ count: Int, from start: Double, length: Double, of pixels: Int
    ) throws(CoderError) -> Scratch<Self> {
        let spans = try Scratch<Self>(count)
        let step = length / Double(count)
        // The tolerance keeps a part of equal size from counting as enlarged because of rounding.
        let isEnlarged = length + 0.001 < Double(count)
        for index in 0..<count {
            let place = start + Double(index) * step
            spans.base[index] =
                isEnlarged
                ? Self(nextTo: place + step / 2 - 0.5, of: pixels) : Self(areaFrom: place, to: place + step, of: pixels)
        }
        return spans
    }
}
