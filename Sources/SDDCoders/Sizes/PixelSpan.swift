/// Of which old pixels, in one direction, a new one is made. The weights come to 1.
struct PixelSpan: BitwiseCopyable {
    let first: Int32
    let last: Int32
    /// Of the first, each one between, and the last. Where there is one alone, the first.
    let firstWeight: Float
    let weight: Float
    let lastWeight: Float

    func weight(of index: Int) -> Float { index == first ? firstWeight : index == last ? lastWeight : weight }

    /// The area that a new pixel covers.
    /// - Parameters:
    ///   - start, end: in pixels, end behind start.
    ///   - count: how many there are.
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

    /// The two pixels beside a place, the nearer the more.
    private init(nextTo place: Double, of count: Int) {
        // The middle of the first pixel is at 0.
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

    /// Those of `count` new pixels, made of the part of the old ones that begins at `start`: by area, if they are
    /// fewer, else linear between two.
    /// - Parameter pixels: how many old ones there are.
    static func all(
        _ count: Int, from start: Double, length: Double, of pixels: Int
    ) throws(CoderError) -> Scratch<Self> {
        let spans = try Scratch<Self>(count)
        let step = length / Double(count)
        // Not for what arithmetic leaves of a part that is just as large.
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
