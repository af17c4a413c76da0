internal import Glibc

/// A curve from stored values to light, both mostly from 0 to 1. A value.
enum ToneCurve: Equatable {
    /// (a x + b)^g + e from d on, and c x + f below it (ICC.1:2022, 10.18).
    case function(g: Double, a: Double, b: Double, c: Double, d: Double, e: Double, f: Double)
    /// Values at equal distances, the first one for 0 and the last one for 1: at least two.
    case table([Float])

    static func gamma(_ exponent: Double) -> ToneCurve {
        .function(g: exponent, a: 1, b: 0, c: 0, d: 0, e: 0, f: 0)
    }

    static let linear = gamma(1)

    /// IEC 61966-2-1.
    static let sRGB = function(g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045, e: 0, f: 0)

    /// More light than any curve of use gives, and less than numbers of 32 bits can hold.
    private static let mostLight = 16.0

    /// Returns the light of a stored value, a number of at most `mostLight` whatever those of the curve are.
    func light(_ x: Double) -> Double {
        let light: Double
        switch self {
        case .function(let g, let a, let b, let c, let d, let e, let f):
            light = x >= d ? pow(max(a * x + b, 0), g) + e : c * x + f
        case .table(let values): light = Self.interpolated(values, at: x)
        }
        // 0 also for what is no number.
        return abs(light) < Self.mostLight ? light : light > 0 ? Self.mostLight : 0
    }

    private static func interpolated(_ values: [Float], at x: Double) -> Double {
        let place = min(max(x, 0), 1) * Double(values.count - 1)
        let first = min(Int(place), values.count - 2)
        let (low, high) = (Double(values[first]), Double(values[first + 1]))
        return low + (high - low) * (place - Double(first))
    }
}

extension ToneCurve {
    /// Most values of a curve that is read; a profile for 16 bits has 4,096.
    private static let mostValues = 65_536

    /// Reads a curve of a profile: `curv` (ICC.1:2022, 10.6) or `para` (10.18).
    /// - Returns: `nil` if it is none.
    init?(_ data: UnsafeRawBufferPointer) {
        var cursor = ByteCursor(data)
        guard let type = cursor.number32(), cursor.take(4) != nil else { return nil }
        switch type {
        case 0x6375_7276:  // 'curv'
            guard let curve = Self.sampled(&cursor) else { return nil }
            self = curve
        case 0x7061_7261:  // 'para'
            guard let curve = Self.parametric(&cursor) else { return nil }
            self = curve
        default: return nil
        }
    }

    private static func sampled(_ cursor: inout ByteCursor) -> ToneCurve? {
        guard let count = cursor.number32(), count <= mostValues else { return nil }
        if count == 0 { return .linear }
        if count == 1 { return cursor.number16().flatMap { $0 > 0 ? gamma(Double($0) / 256) : nil } }
        guard let samples = cursor.take(2 * count) else { return nil }
        let values = (0..<count).map { (index: Int) -> Float in
            let value = UInt16(samples[2 * index]) << 8 | UInt16(samples[2 * index + 1])
            return Float(value) / 65_535
        }
        return .table(values)
    }

    private static func parametric(_ cursor: inout ByteCursor) -> ToneCurve? {
        guard let kind = cursor.number16(), cursor.take(2) != nil, kind <= 4 else { return nil }
        var numbers: [Double] = []
        for _ in 0..<[1, 3, 4, 5, 7][kind] {
            guard let number = cursor.fixed32() else { return nil }
            numbers.append(number)
        }
        let (g, a, b) = (numbers[0], kind > 0 ? numbers[1] : 1, kind > 0 ? numbers[2] : 0)
        // A power of nothing, or of less, is no curve.
        guard g > 0 else { return nil }
        switch kind {
        case 0: return gamma(g)
        case 1, 2:
            guard a != 0 else { return nil }
            let c = kind == 2 ? numbers[3] : 0
            return .function(g: g, a: a, b: b, c: 0, d: -b / a, e: c, f: c)
        case 3: return .function(g: g, a: a, b: b, c: numbers[3], d: numbers[4], e: 0, f: 0)
        default: return .function(g: g, a: a, b: b, c: numbers[3], d: numbers[4], e: numbers[5], f: numbers[6])
        }
    }
}

extension ByteCursor {
    /// Takes an s15Fixed16Number (ICC.1:2022, 4.6).
    mutating func fixed32() -> Double? {
        number32().map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }
}
