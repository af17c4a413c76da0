internal import Glibc

extension PixelBuffer {
    /// Returns a copy that is blurred like by a Gaussian function of that standard deviation, in pixels. Beyond the
    /// edges the picture is taken to go on as at its edges.
    func blurred(_ deviation: Int) throws(CoderError) -> PixelBuffer {
        let plane = try PixelPlane(self)
        let boxes = Self.boxes(like: min(deviation, max(width, height)))
        let line = try BlurLine(max(width, height))
        for y in 0..<height {
            for x in 0..<width { line[x] = plane[x, y] }
            line.blur(width, boxes)
            for x in 0..<width { plane[x, y] = line[x] }
        }
        for x in 0..<width {
            for y in 0..<height { line[y] = plane[x, y] }
            line.blur(height, boxes)
            for y in 0..<height { plane[x, y] = line[y] }
        }
        return try PixelConverter(plane.buffer, to: format).make()
    }

    /// Three averages, one after the other, which come near a Gaussian function: how many pixels before and behind a
    /// pixel each takes (W3C, Filter Effects 1, section 9.6).
    private static func boxes(like deviation: Int) -> [(before: Int, behind: Int)] {
        let size = Int(Double(deviation) * 3 * (2 * Double.pi).squareRoot() / 4 + 0.5)
        let half = size / 2
        if size % 2 == 1 { return [(half, half), (half, half), (half, half)] }
        return size == 0 ? [] : [(half, half - 1), (half - 1, half), (half, half)]
    }
}

/// A row or a column while it is blurred.
private struct BlurLine {
    private let pixels: PixelLine
    private let averages: PixelLine

    init(_ length: Int) throws(CoderError) {
        (pixels, averages) = (try PixelLine(length), try PixelLine(length))
    }

    subscript(place: Int) -> SIMD4<Double> {
        get { pixels[place] }
        nonmutating set { pixels[place] = newValue }
    }

    func blur(_ length: Int, _ boxes: [(before: Int, behind: Int)]) {
        for box in boxes {
            let clamped = { (place: Int) in pixels[min(max(place, 0), length - 1)] }
            // Each place of a box that lies far outside counts as the pixel at the edge.
            let near = max(-box.before, -length)...min(box.behind, 2 * length)
            var sum = clamped(-1) * Double(near.lowerBound + box.before)
            for place in near { sum += clamped(place) }
            sum += clamped(length) * Double(box.behind - near.upperBound)
            let share = 1 / Double(box.before + box.behind + 1)
            for place in 0..<length {
                averages[place] = sum * share
                sum += clamped(place + box.behind + 1) - clamped(place - box.before)
            }
            for place in 0..<length { pixels[place] = averages[place] }
        }
    }
}

private struct PixelLine {
    private let numbers: Scratch<Double>

    init(_ length: Int) throws(CoderError) { numbers = try Scratch(4 * length) }

    // Safety: the places are below the length.
    subscript(place: Int) -> SIMD4<Double> {
        @inline(__always) get {
            let pixel = numbers.base + 4 * place
            return SIMD4(pixel[0], pixel[1], pixel[2], pixel[3])
        }
        @inline(__always) nonmutating set {
            let pixel = numbers.base + 4 * place
            for channel in 0..<4 { pixel[channel] = newValue[channel] }
        }
    }
}
