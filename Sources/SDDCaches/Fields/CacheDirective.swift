internal import SDDBase

/// One directive of a Cache-Control field, and its parser (RFC 9111 §5.2). A value type; pure.
struct CacheDirective: Equatable, Sendable {
    enum Argument: Equatable, Sendable {
        case none
        /// A token, or the unescaped content of a quoted string.
        case text(String)
        /// Neither of these: spaces around "=", an unterminated quote, or text behind the argument.
        case malformed
    }

    /// The name in lower case.
    let name: String
    let argument: Argument

    static func all(in value: String) -> [CacheDirective] {
        var reader = CacheDirectiveReader(value)
        var directives: [CacheDirective] = []
        while let directive = reader.next() { directives.append(directive) }
        return directives
    }
}

/// Reads the directives of one field one by one. A malformed member of the list invalidates only itself, so that no
/// garbage hides a no-store behind it.
private struct CacheDirectiveReader {
    private let text: [UInt8]
    private var at = 0

    init(_ value: String) { text = Array(value.utf8) }

    private var byte: UInt8? { at < text.count ? text[at] : nil }

    mutating func next() -> CacheDirective? {
        while byte != nil {
            skip { FieldText.isSpace($0) || $0 == UInt8(ascii: ",") }
            let name = token()
            let argument = argument()
            if !name.isEmpty { return CacheDirective(name: FieldText.lowered(name), argument: argument) }
        }
        return nil
    }

    private mutating func argument() -> CacheDirective.Argument {
        var argument = CacheDirective.Argument.none
        if byte == UInt8(ascii: "=") {
            at += 1
            argument = byte == UInt8(ascii: "\"") ? quoted() : unquoted()
        }
        skip(FieldText.isSpace)
        if byte == nil || byte == UInt8(ascii: ",") { return argument }
        skip { $0 != UInt8(ascii: ",") }
        return .malformed
    }

    private mutating func unquoted() -> CacheDirective.Argument {
        let text = token()
        return text.isEmpty ? .malformed : .text(String(decoding: text, as: UTF8.self))
    }

    /// Reads a quoted string (RFC 9110 §5.6.4). An unterminated quote is ignored, and the text behind it is parsed as
    /// if the quote were not there.
    private mutating func quoted() -> CacheDirective.Argument {
        at += 1
        var content: [UInt8] = []
        var place = at
        while place < text.count, text[place] != UInt8(ascii: "\"") {
            if text[place] == UInt8(ascii: "\\"), place + 1 < text.count { place += 1 }
            content.append(text[place])
            place += 1
        }
        guard place < text.count else { return .malformed }
        at = place + 1
        return .text(String(decoding: content, as: UTF8.self))
    }

    private mutating func token() -> ArraySlice<UInt8> {
        let start = at
        skip(FieldText.isOfToken)
        return text[start..<at]
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        while let byte, isSkipped(byte) { at += 1 }
    }
}
