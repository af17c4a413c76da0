import SDDBase

/// What is wrong with the header of a response: rules of RFC 9112 that libcurl 7.88 does not hold servers to.
enum HeaderFault: Equatable {
    /// §2.3: the protocol's name in other letters than capitals.
    case statusLine
    /// §2.2: a carriage return that ends no line.
    case bareReturn
    /// §5.2: white space begins the first line after the status line.
    case foldBeforeField
    /// §5.1, §5.2: a field that decides where the body ends, spelled so that libcurl reads something else.
    case oddFraming
    /// §6.3: a Content-Length that is no number, or several that differ.
    case contentLength
    /// §6.1: another transfer coding than chunked, or chunked twice.
    case transferCoding
    /// Several fields that lead to different places.
    case locations
}

/// Looks at those fields of a response that decide how its body is to be read and where it leads to, where they are
/// not in their plain form. Pure functions.
enum HeaderRules {
    /// - Returns: nil when there is none.
    /// - Throws: when its values are not all the same number. RFC 9112 §6.3: the same number several times is one.
    static func length(_ fields: ResponseFields) throws(Violation) -> Int64? {
        let numbers = elements(of: "Content-Length", fields, keepsEmpty: true).map(number)
        guard let first = numbers.first else { return nil }
        guard let length = first, numbers.allSatisfy({ $0 == first }) else {
            throw Violation(fault: .contentLength)
        }
        return length
    }

    /// Whether the body comes in chunks.
    static func isChunked(_ fields: ResponseFields) throws(Violation) -> Bool {
        let codings = elements(of: "Transfer-Encoding", fields, keepsEmpty: false).filter { $0 != "identity" }
        guard codings.isEmpty || codings == ["chunked"] else { throw Violation(fault: .transferCoding) }
        return !codings.isEmpty
    }

    /// The content codings in their order, in lower case; not those that mean that there is none.
    static func contentCodings(_ fields: ResponseFields) -> [String] {
        elements(of: "Content-Encoding", fields, keepsEmpty: false).filter { $0 != "identity" && $0 != "none" }
    }

    /// Where a redirect leads; nil when it does not say.
    static func location(_ fields: ResponseFields) throws(Violation) -> String? {
        let values = fields.values(of: "Location").filter { !$0.isEmpty }
        guard values.allSatisfy({ $0 == values[0] }) else { throw Violation(fault: .locations) }
        return values.first
    }

    struct Violation: Error { let fault: HeaderFault }

    /// The elements of a list over all fields of that name, RFC 9110 §5.6.1, in lower case.
    private static func elements(of name: String, _ fields: ResponseFields, keepsEmpty: Bool) -> [String] {
        fields.values(of: name).flatMap { value in
            value.split(separator: ",", omittingEmptySubsequences: !keepsEmpty).map { element in
                let space = { (character: Character) in character == " " || character == "\t" }
                return String(String(element.drop(while: space).reversed()).drop(while: space).reversed()).lowercased()
            }
        }
        .filter { keepsEmpty || !$0.isEmpty }
    }

    /// More digits than fit count as the largest number.
    private static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }
}
