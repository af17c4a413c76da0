import SDDBase

/// One challenge of a response with status 401: RFC 9110 §11.6.1.
struct AuthChallenge: Equatable {
    /// The scheme, in lower case.
    let scheme: String
    /// The parameters by their names in lower case; of two with one name, the first. A token68 is ignored.
    private(set) var parameters: [String: String] = [:]

    /// Returns the challenges of a response in their order.
    static func all(in fields: ResponseFields) -> [AuthChallenge] {
        fields.values(of: "WWW-Authenticate").flatMap { value in
            var scanner = Scanner(value)
            return scanner.challenges()
        }
    }

    /// Returns the parameters of a field that has no scheme, such as Authentication-Info.
    static func parameters(of value: String) -> [String: String] {
        var scanner = Scanner("none " + value)
        return scanner.challenges().first?.parameters ?? [:]
    }

    /// Reads a list in which a comma separates the parameters of one challenge as well as two challenges: a word
    /// followed by "=" is a parameter, any other begins a challenge.
    private struct Scanner {
        private var rest: ArraySlice<UInt8>

        init(_ text: String) { rest = Array(text.utf8)[...] }

        mutating func challenges() -> [AuthChallenge] {
            var found: [AuthChallenge] = []
            while !rest.isEmpty {
                let word = takeWord()
                guard !word.isEmpty else {
                    rest = rest.dropFirst()
                    continue
                }
                let behindWord = rest
                dropSpace()
                if rest.first == UInt8(ascii: "="), let last = found.indices.last {
                    rest = rest.dropFirst()
                    dropSpace()
                    let value = takeValue()
                    found[last].parameters[word] = found[last].parameters[word] ?? value
                } else {
                    rest = behindWord
                    found.append(AuthChallenge(scheme: word))
                }
            }
            return found
        }

        /// Takes a token (RFC 9110 §5.6.2), in lower case.
        private mutating func takeWord() -> String {
            let word = rest.prefix(while: Self.isOfToken)
            rest = rest[word.endIndex...]
            return String(decoding: word, as: UTF8.self).lowercased()
        }

        private mutating func dropSpace() {
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        }

        /// Takes a token or the content of a quoted string (RFC 9110 §5.6.4).
        private mutating func takeValue() -> String {
            guard rest.first == UInt8(ascii: "\"") else {
                let word = rest.prefix(while: Self.isOfToken)
                rest = rest[word.endIndex...]
                return String(decoding: word, as: UTF8.self)
            }
            rest = rest.dropFirst()
            var content: [UInt8] = []
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                    content.append(escaped)
                } else {
                    content.append(byte)
                }
            }
            return String(decoding: content, as: UTF8.self)
        }

        private static func isOfToken(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
    }
}
