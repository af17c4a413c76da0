internal import Glibc
import SDDBase

/// A violation of RFC 9112 in the header of a response that libcurl 7.88 accepts.
enum HeaderFault: Equatable {
    /// §2.3: the protocol's name is not in capital letters.
    case statusLine
    /// §2.2: a carriage return does not end a line.
    case bareReturn
    /// §5.2: white space begins the first line after the status line.
    case foldBeforeField
    /// §5.1, §5.2: a field that decides where the body ends is written so that libcurl reads something else.
    case oddFraming
    /// §6.3: a Content-Length is not a number, or several differ.
    case contentLength
    /// §6.1: a transfer coding is not chunked, or chunked is applied twice.
    case transferCoding
    /// Several Location fields lead to different places.
    case locations
}

/// Evaluates the fields of a response that decide how its body is read and where it redirects to, if they are not in
/// their plain form. All functions are pure.
enum HeaderRules {
    /// - Returns: `nil` if there is no Content-Length.
    /// - Throws: If the values are not all the same number. RFC 9112 §6.3 allows the same number several times.
    static func length(_ fields: ResponseFields) throws(Violation) -> Int64? {
        let numbers = elements(of: "Content-Length", fields, keepsEmpty: true).map(number)
        guard let first = numbers.first else { return nil }
        guard let length = first, numbers.allSatisfy({ $0 == first }) else {
            throw Violation(fault: .contentLength)
        }
        return length
    }

    /// Whether the body is chunked.
    static func isChunked(_ fields: ResponseFields) throws(Violation) -> Bool {
        let codings = elements(of: "Transfer-Encoding", fields, keepsEmpty: false).filter { $0 != "identity" }
        guard codings.isEmpty || codings == ["chunked"] else { throw Violation(fault: .transferCoding) }
        return !codings.isEmpty
    }

    /// Returns the content codings in their order, in lower case, without "identity" and "none".
    static func contentCodings(_ fields: ResponseFields) -> [String] {
        elements(of: "Content-Encoding", fields, keepsEmpty: false).filter { $0 != "identity" && $0 != "none" }
    }

    /// Returns the target of a redirect; `nil` if it has none. If its bytes are not UTF-8, those above ASCII are
    /// percent-encoded as they are: the server has a name in an older encoding.
    static func location(_ fields: ResponseFields) throws(Violation) -> String? {
        let values = withExtendedLifetime(fields) {
            fields.all.filter { strcasecmp($0.name, "Location") == 0 && $0.value.pointee != 0 }
                .map { String(validatingCString: $0.value) ?? encoded($0.value) }
        }
        guard values.allSatisfy({ $0 == values[0] }) else { throw Violation(fault: .locations) }
        return values.first
    }

    private static func encoded(_ text: ResponseFields.Text) -> String {
        let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
        return bytes.reduce(into: "") { all, byte in
            all += byte < 0x80 ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16)
        }
    }

    struct Violation: Error { let fault: HeaderFault }

    /// Returns the elements of a list over all fields of that name (RFC 9110 §5.6.1), in lower case.
    private static func elements(of name: String, _ fields: ResponseFields, keepsEmpty: Bool) -> [String] {
        fields.values(of: name).flatMap { value in
            value.split(separator: ",", omittingEmptySubsequences: !keepsEmpty).map { element in
                let space = { (character: Character) in character == " " || character == "\t" }
                return String(String(element.drop(while: space).reversed()).drop(while: space).reversed()).lowercased()
            }
        }
        .filter { keepsEmpty || !$0.isEmpty }
    }

    /// Parses a number. A number that does not fit counts as the largest number.
    private static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }
}
