/// The simple properties of an XMP packet (ISO 16684-1): attributes, elements with a text, and lists of texts, found by
/// their names wherever they stand. Nothing is unpacked or expanded, so that each search takes one pass over the bytes.
/// A value; the bytes must outlive it.
struct XMPPacket {
    private let bytes: UnsafeRawBufferPointer
    /// Texts that are longer are none of the values that anything asks for.
    private static let longestValue = 256
    /// Values of a list that are read.
    private static let mostValues = 4

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Returns the prefix that stands for a namespace.
    func prefix(of namespace: String) -> String? {
        for place in places(of: "xmlns:") {
            guard let equals = bytes[place...].prefix(Self.longestValue).firstIndex(of: UInt8(ascii: "=")),
                quoted(equals + 1) == namespace
            else { continue }
            let name = String(decoding: bytes[place..<equals], as: UTF8.self).trimmed
            return name.isEmpty ? nil : name
        }
        return nil
    }

    /// Returns the text of a property, or the texts of its list; nothing if the packet lacks it.
    func values(_ prefix: String, _ name: String) -> [String] {
        for place in places(of: "\(prefix):\(name)") {
            let rest = bytes[place...].prefix(Self.longestValue)
            guard let next = rest.firstIndex(where: { !isSpace($0) }) else { continue }
            if bytes[next] == UInt8(ascii: "=") {
                return quoted(next + 1).map { [$0] } ?? []
            }
            if bytes[next] == UInt8(ascii: ">") { return texts(next + 1, to: "</\(prefix):\(name)") }
        }
        return []
    }

    /// Returns the places behind each occurrence of a text that ASCII letters do not continue.
    private func places(of text: String) -> some Sequence<Int> {
        let text = Array(text.utf8)
        return bytes.indices.lazy.compactMap { start in
            let end = start + text.count
            guard bytes[start] == text[0], end < bytes.count, bytes[start..<end].elementsEqual(text) else { return nil }
            return end
        }
    }

    /// Returns the text in quotes that begins at a place, behind spaces.
    private func quoted(_ place: Int) -> String? {
        let rest = bytes[place...].prefix(Self.longestValue)
        guard let open = rest.firstIndex(where: { !isSpace($0) }),
            let quote = [0x22, 0x27].first(where: { $0 == bytes[open] }),
            let close = rest[(open + 1)...].firstIndex(of: quote)
        else { return nil }
        return String(decoding: bytes[(open + 1)..<close], as: UTF8.self)
    }

    /// Returns the texts between tags, from a place to an end tag.
    private func texts(_ place: Int, to end: String) -> [String] {
        var texts: [String] = []
        var place = place
        let end = Array(end.utf8)
        while texts.count < Self.mostValues {
            guard let tag = bytes[place...].firstIndex(of: UInt8(ascii: "<")) else { return [] }
            let text = String(decoding: bytes[place..<tag].prefix(Self.longestValue), as: UTF8.self).trimmed
            if !text.isEmpty { texts.append(text) }
            if bytes[tag...].starts(with: end) { return texts }
            guard let close = bytes[tag...].firstIndex(of: UInt8(ascii: ">")) else { return [] }
            place = close + 1
        }
        return []
    }

    private func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }
}

extension String {
    /// The text without spaces at its ends.
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
