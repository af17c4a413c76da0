internal import SDDBase

/// The parts of a colour profile that the library reads (ICC.1:2022). Every byte of it comes from a stranger: what is out of
/// bounds is no profile. A value.
struct ICCProfile {
    /// Data colour spaces (7.2.6).
    enum Space: Equatable { case colour, grey, inks, other }

    let space: Space
    /// The description, as UTF-8; "" if there is none that can be read.
    let name: String
    /// Whether it has tables from stored values to colours, which come before curves and a matrix (8.3 to 8.5).
    let hasTables: Bool
    /// The conversion by curves and a matrix; `nil` if the profile has none, or none of use.
    let shaper: ColourShaper?
    /// The code points in the profile (9.2.17).
    let codePoints: CodePoints?

    private typealias Tags = [Int: UnsafeRawBufferPointer]

    /// Returns `nil` for bytes that are no profile.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let header = Header(bytes), let tags = Self.tags(bytes) else { return nil }
        space = header.space
        name = tags[0x6465_7363].map { Self.text($0) } ?? ""  // 'desc'
        codePoints = tags[0x6369_6370].flatMap { Self.codePoints($0) }  // 'cicp'
        let tables = [0x4132_4230, 0x4132_4231]  // 'A2B0', 'A2B1'
        hasTables = tables.contains { tags[$0] != nil }
        switch space {
        case .colour where header.isXYZ: shaper = Self.colourShaper(tags)
        case .grey where header.isXYZ:
            shaper = tags[0x6b54_5243].flatMap { ToneCurve($0) }.map { ColourShaper(grey: $0) }  // 'kTRC'
        default: shaper = nil
        }
    }

    /// The header (7.2).
    private struct Header {
        let space: Space
        /// True if the profile's own colours are XYZ, false if they are L*a*b*.
        let isXYZ: Bool

        init?(_ bytes: UnsafeRawBufferPointer) {
            var cursor = ByteCursor(bytes)
            guard let size = cursor.number32(), size >= 132, size <= bytes.count, cursor.take(12) != nil,
                let space = cursor.number32(), let connection = cursor.number32(), cursor.take(12) != nil,
                cursor.number32() == 0x6163_7370  // 'acsp'
            else { return nil }
            switch connection {
            case 0x5859_5a20: isXYZ = true
            case 0x4c61_6220: isXYZ = false
            default: return nil
            }
            self.space =
                switch space {
                case 0x5247_4220: .colour
                case 0x4752_4159: .grey
                case 0x434d_594b: .inks
                default: .other
                }
        }
    }

    /// Most tags that are read.
    private static let mostTags = 100

    /// Reads the tag table (7.3). If a tag is there twice, the first one counts.
    /// - Returns: `nil` if a tag is out of bounds.
    private static func tags(_ bytes: UnsafeRawBufferPointer) -> Tags? {
        var cursor = ByteCursor(bytes)
        guard cursor.take(128) != nil, let count = cursor.number32(), count <= mostTags else { return nil }
        var tags: Tags = [:]
        for _ in 0..<count {
            guard let name = cursor.number32(), let offset = cursor.number32(), let size = cursor.number32(),
                offset >= 128, offset <= bytes.count, size <= bytes.count - offset
            else { return nil }
            if tags[name] == nil { tags[name] = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + size]) }
        }
        return tags
    }

    private static func colourShaper(_ tags: Tags) -> ColourShaper? {
        // 'rTRC', 'gTRC', 'bTRC'; 'rXYZ', 'gXYZ', 'bXYZ'
        let curves = [0x7254_5243, 0x6754_5243, 0x6254_5243].compactMap { tags[$0].flatMap { ToneCurve($0) } }
        let primaries = [0x7258_595a, 0x6758_595a, 0x6258_595a].compactMap { tags[$0].flatMap { point($0) } }
        guard curves.count == 3, primaries.count == 3 else { return nil }
        return ColourShaper(
            curves[0], curves[1], curves[2], toXYZ: ColourMatrix(primaries[0], primaries[1], primaries[2]))
    }

    /// Reads the first point of an XYZType (10.31).
    private static func point(_ data: UnsafeRawBufferPointer) -> ColourMatrix.Vector? {
        var cursor = ByteCursor(data)
        guard cursor.number32() == 0x5859_5a20, cursor.take(4) != nil, let x = cursor.fixed32(),
            let y = cursor.fixed32(), let z = cursor.fixed32()
        else { return nil }
        return ColourMatrix.Vector(x, y, z)
    }

    private static func codePoints(_ data: UnsafeRawBufferPointer) -> CodePoints? {
        var cursor = ByteCursor(data)
        guard cursor.number32() == 0x6369_6370, cursor.take(4) != nil, let primaries = cursor.number8(),
            let transfer = cursor.number8()
        else { return nil }
        return CodePoints(primaries: primaries, transfer: transfer)
    }

    // MARK: - The description

    /// Most letters of a description that are read.
    private static let mostLetters = 200

    /// Reads a textDescriptionType of the second version of the format, or the first text of a
    /// multiLocalizedUnicodeType (10.15).
    private static func text(_ data: UnsafeRawBufferPointer) -> String {
        var cursor = ByteCursor(data)
        guard let type = cursor.number32(), cursor.take(4) != nil else { return "" }
        switch type {
        case 0x6465_7363:  // 'desc'
            guard let count = cursor.number32(), let letters = cursor.take(min(count, mostLetters)) else { return "" }
            return printable(letters.prefix { $0 != 0 }.map { Unicode.Scalar($0) })
        case 0x6d6c_7563:  // 'mluc'
            guard let records = cursor.number32(), records > 0, cursor.take(8) != nil, let size = cursor.number32(),
                let offset = cursor.number32(), offset <= data.count
            else { return "" }
            let text = data[offset...].prefix(min(size, 2 * mostLetters))
            let units = stride(from: text.startIndex, to: text.endIndex - 1, by: 2).map {
                UInt16(text[$0]) << 8 | UInt16(text[$0 + 1])
            }
            return printable(Array(String(decoding: units, as: UTF16.self).unicodeScalars))
        default: return ""
        }
    }

    private static func printable(_ letters: [Unicode.Scalar]) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: letters)
        return printable(text)
    }

    /// Leaves out control characters, which a terminal would obey, and those that change the direction of a line.
    static func printable(_ text: String) -> String {
        var made = ""
        for letter in text.unicodeScalars {
            switch letter.value {
            case 0..<0x20, 0x7f...0x9f, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: continue
            default: made.unicodeScalars.append(letter)
            }
        }
        return made
    }
}
