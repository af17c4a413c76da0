internal import CSDD
internal import Glibc
internal import SDDEngine

// The reason why a call is refused: its status, and what sdd_last_error() tells of it.

/// The location of an error: an argument of the call ("count"), a field of a struct ("sdd_cookie.path"), or a field in
/// an array ("sdd_download_request.headers[2].name"). Made of literals, so that it costs nothing until it is shown.
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

    /// Returns the place of a field within this struct or array element.
    func field(_ member: StaticString) -> Place {
        var place = self
        place.member = member
        return place
    }

    var text: String {
        let element = index.map { "[\($0)]" } ?? ""
        return "\(name)\(element)\(member.map { ".\($0)" } ?? "")"
    }

    /// Whether this is a field of a struct, whose name is clear by itself. An argument needs the name of its call.
    var isField: Bool { name.withUTF8Buffer { $0.starts(with: "sdd_".utf8) } }
}

/// The refusal of a call: the status that it returns, and the reason. The message is built only after an error, so that
/// valid calls pay nothing for it. It never contains a password, a cookie or the value of a header field.
struct Refusal: Error {
    let status: sdd_status
    private let place: Place?
    private let reason: String
    /// Whether `reason` is a complete message, which needs no function or place before it.
    private var isWhole = false
    /// The error of the request that the call waited for, or of its work on a picture.
    private var cause: Cause?

    private struct Cause {
        let error: DownloadError
        let stage: DownloadResult.Stage
        let httpStatus: Int32
    }

    /// - Parameter reason: the value given and the values allowed, without a full stop.
    init(_ status: Int, _ place: Place, _ reason: String) {
        self.status = sdd_status(status)
        self.place = place
        self.reason = reason
    }

    /// Creates a refusal that concerns no particular argument.
    init(_ status: Int, _ reason: String) {
        self.status = sdd_status(status)
        place = nil
        self.reason = reason
    }

    /// Creates a refusal from the error of a request, with its message, for calls that wait.
    init(_ error: DownloadError, of result: DownloadResult? = nil) {
        self.init(Int(error.code.rawValue), whole: error.message)
        cause = Cause(error: error, stage: result?.stage ?? .none, httpStatus: result?.httpStatus ?? 0)
    }

    /// Creates a refusal from a complete message that ends with a full stop.
    init(_ status: Int, whole sentence: String) {
        self.init(status, sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence)
        isWhole = true
    }

    /// Returns the message for sdd_last_error_message(), which names the function where needed.
    func sentence(of function: StaticString) -> String {
        if isWhole || place?.isField == true { return sentence }
        let name = function.withUTF8Buffer { String(decoding: $0.prefix { $0 != UInt8(ascii: "(") }, as: UTF8.self) }
        return "\(name): \(sentence)"
    }

    /// The failure as sdd_last_error() gives it, without the message.
    var failure: sdd_failure {
        guard let cause else { return sdd_failure(refusing: status) }
        return sdd_failure(cause.error, stage: cause.stage, httpStatus: cause.httpStatus, message: nil)
    }

    /// The message without the name of the function, for use inside another message.
    var sentence: String { "\(place.map { "\($0.text): " } ?? "")\(reason)." }
}

/// Runs work. If it fails, the call is refused.
func refusing<Value, Failure>(
    _ refusal: (Failure) -> Refusal, _ work: () throws(Failure) -> Value
) throws(Refusal) -> Value {
    do throws(Failure) { return try work() } catch { throw refusal(error) }
}

// MARK: - Common refusals

extension Refusal {
    static func null(_ place: Place) -> Refusal { Refusal(SDD_ERROR_INVALID_ARGUMENT, place, "NULL is not allowed") }

    /// - Parameter allowed: such as "1 to 100", or the common prefix of the constants.
    static func number<Number: BinaryInteger>(_ place: Place, _ given: Number, allowed: String) -> Refusal {
        Refusal(SDD_ERROR_INVALID_ARGUMENT, place, "\(given) is not \(allowed)")
    }

    /// Returns the refusal of a call whose time to wait has passed.
    static func timeIsOver(_ what: String) -> Refusal {
        var refusal = Refusal(SDD_ERROR_TIMEOUT, "timeout_ms", "the time is over, and \(what)")
        refusal.cause = Cause(
            error: DownloadError(.timeout, .timeoutWait, ""), stage: .none, httpStatus: 0)
        return refusal
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

// MARK: - Values in messages

/// Returns the system's description of an errno value.
func systemWords(_ code: Int32) -> String {
    // Safety: glibc's strerror() returns a string that belongs to this thread, or a static one.
    strerror(code).map { String(cString: $0) } ?? "system error \(code)"
}

/// Returns a caller's text as messages show it.
func shown(_ text: UnsafePointer<CChar>?) -> String {
    guard let text = bytes(of: text, limit: longestShown) else { return "NULL" }
    return shown(Array(text))
}

func shown(_ text: String) -> String { shown(Array(text.utf8)) }

/// Returns a caller's URL as messages show it.
func shownURL(_ url: UnsafePointer<CChar>?) -> String {
    guard let bytes = bytes(of: url, limit: longestURLLooked) else { return "NULL" }
    return shownURL(Array(bytes))
}

private let longestURLLooked = 65_536
