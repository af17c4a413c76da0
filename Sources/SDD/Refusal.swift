internal import CSDD
internal import Glibc
internal import SDDEngine

// Why a call is refused: its status, and the sentence that sdd_last_error_message() gives.

/// What is wrong: an argument of the call ("count"), a field of a struct ("sdd_cookie.path"), or one in an array
/// ("sdd_download_request.headers[2].name"). A literal, which costs nothing until it is said.
struct Place: ExpressibleByStringLiteral {
    private let name: StaticString
    private var index: Int?
    private var member: StaticString?

    init(stringLiteral name: StaticString) { self.name = name }

    subscript(index: Int) -> Place {
        var place = self
        place.index = index
        return place
    }

    /// A field of the struct that an element of an array is.
    func field(_ member: StaticString) -> Place {
        var place = self
        place.member = member
        return place
    }

    var text: String {
        let element = index.map { "[\($0)]" } ?? ""
        return "\(name)\(element)\(member.map { ".\($0)" } ?? "")"
    }

    /// Of a struct: then it tells by itself what is meant, and an argument needs the name of its call.
    var isField: Bool { name.withUTF8Buffer { $0.starts(with: "sdd_".utf8) } }
}

/// A call is refused: the status that it returns, and why. The sentence is made here, where something is wrong, so that
/// what is right pays nothing for it. It never says a password, a cookie, or what a header field holds.
struct Refusal: Error {
    let status: sdd_status
    private let place: Place?
    private let reason: String
    /// The sentence is of a request, or names the field itself.
    private var isWhole = false

    /// - Parameter reason: what is there, and what is allowed; without a full stop.
    init(_ status: Int, _ place: Place, _ reason: String) {
        self.status = sdd_status(status)
        self.place = place
        self.reason = reason
    }

    /// Of no argument in particular.
    init(_ status: Int, _ reason: String) {
        self.status = sdd_status(status)
        place = nil
        self.reason = reason
    }

    /// How the request of a blocking call ended, in its own words.
    init(_ error: DownloadError) { self.init(Int(error.code.rawValue), whole: error.message) }

    /// A sentence that is one already, with its full stop.
    init(_ status: Int, whole sentence: String) {
        self.init(status, sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence)
        isWhole = true
    }

    /// For a caller who knows the call.
    func sentence(of function: StaticString) -> String {
        if isWhole || place?.isField == true { return sentence }
        let name = function.withUTF8Buffer { String(decoding: $0.prefix { $0 != UInt8(ascii: "(") }, as: UTF8.self) }
        return "\(name): \(sentence)"
    }

    /// As a part of a sentence on something else.
    var sentence: String { "\(place.map { "\($0.text): " } ?? "")\(reason)." }
}

// MARK: - What is often wrong

extension Refusal {
    /// - Parameter what: as "text" or "image".
    static func null(_ place: Place) -> Refusal { Refusal(SDD_ERROR_INVALID_ARGUMENT, place, "NULL is not allowed") }

    /// - Parameter allowed: as "1 to 100", or what the constants begin with.
    static func number<Number: BinaryInteger>(_ place: Place, _ given: Number, allowed: String) -> Refusal {
        Refusal(SDD_ERROR_INVALID_ARGUMENT, place, "\(given) is not \(allowed)")
    }

    /// Fields that this version has no meaning for.
    static func reserved(_ place: Place) -> Refusal {
        Refusal(SDD_ERROR_UNSUPPORTED, place, "this version of libsdd has no meaning for it: it must be 0")
    }

    static func noMemory(_ place: Place) -> Refusal {
        Refusal(SDD_ERROR_NO_RESOURCES, place, "there is no memory for a copy of it")
    }

    static func unknown(_ token: sdd_token, _ place: Place = "token") -> Refusal {
        Refusal(
            SDD_ERROR_NOT_FOUND, place,
            token == 0
                ? "0 is no token: the call that gave it was refused"
                : "\(token) belongs to nothing under way: it has ended, or never was")
    }

    static func index<Number: BinaryInteger>(_ given: Number, of count: Int, _ what: String) -> Refusal {
        Refusal(SDD_ERROR_NOT_FOUND, "index", "\(given) is not below \(count), the number of \(what)")
    }
}

// MARK: - Values in sentences

/// The system's own on one of its errors.
func systemWords(_ code: Int32) -> String {
    // Safety: glibc's strerror gives a string of this thread's own, or a static one.
    strerror(code).map { String(cString: $0) } ?? "system error \(code)"
}

/// A caller's text as a sentence shows it: in quotes, as far as it is short, with what is not printable as \xNN.
func shown(_ text: UnsafePointer<CChar>?) -> String {
    guard let text = bytes(of: text, limit: longestShown) else { return "NULL" }
    return shown(text)
}

func shown(_ text: String) -> String {
    var text = text
    return text.withUTF8 { shown($0) }
}

private let longestShown = 64

private func shown(_ text: UnsafeBufferPointer<UInt8>) -> String {
    var part = text.prefix(longestShown)
    let isCut = part.count < text.count
    // Not in the middle of a character.
    while isCut, let last = part.last, last & 0xc0 == 0x80 { part.removeLast() }
    if isCut, let last = part.last, last >= 0xc0 { part.removeLast() }
    let isText = String(validating: part, as: UTF8.self) != nil
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for byte in part {
        if byte >= 0x20 && byte < 0x7f || isText && byte >= 0x80 {
            bytes.append(byte)
        } else {
            let digits = Array("0123456789abcdef".utf8)
            bytes += [UInt8(ascii: "\\"), UInt8(ascii: "x"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    bytes += Array((isCut ? "…\"" : "\"").utf8)
    return String(decoding: bytes, as: UTF8.self)
}

/// A URL as a sentence shows it: without what stands before its host, which may be a password, and without its query,
/// where tokens are. It may be malformed, so what comes before any "@" is left out.
func shownURL(_ url: UnsafePointer<CChar>?) -> String {
    guard let url, let bytes = bytes(of: url, limit: longestURLLooked) else { return "NULL" }
    let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
    // A password may have either of them in it, if the URL is malformed.
    guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else {
        return shown(UnsafeBufferPointer(rebasing: bytes[..<end]))
    }
    return shown(UnsafeBufferPointer(rebasing: bytes[min(at + 1, end)..<end]))
}

private let longestURLLooked = 65_536
