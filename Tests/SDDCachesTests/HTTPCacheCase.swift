import SDDBase
import SDDCaches
import Testing

/// One row of the tables for HTTP caching: a stored response, a request some time later, and what the cache must do by
/// the RFC. Header fields are written as in a message. The response arrives at `start`.
struct HTTPCacheCase: Sendable, CustomTestStringConvertible {
    /// Sun, 09 Sep 2001 01:46:40 GMT
    static let start: Int64 = 1_000_000_000

    /// The section of the RFC, and what it says.
    let rule: String
    let stored: [String]
    let ask: [String]
    /// Seconds between the response and the request.
    let after: Int64
    let gives: CacheAnswer
    var status: Int32 = 200
    /// The header fields of the request whose response was stored.
    var asked: [String] = []
    /// The seconds that the response took.
    var delay: Int64 = 0
    var method = "GET"
    var isOffline = false
    var ignoresCache = false

    init(
        _ rule: String, _ stored: [String], ask: [String] = [], after: Int64 = 0, gives: CacheAnswer,
        status: Int32 = 200, asked: [String] = [], delay: Int64 = 0, method: String = "GET", isOffline: Bool = false,
        ignoresCache: Bool = false
    ) {
        self.rule = rule
        self.stored = stored
        self.ask = ask
        self.after = after
        self.gives = gives
        self.status = status
        self.asked = asked
        self.delay = delay
        self.method = method
        self.isOffline = isOffline
        self.ignoresCache = ignoresCache
    }

    var testDescription: String { rule }

    var answer: CacheAnswer {
        let request = CacheableRequest(
            method: method, url: "http://a.test/", headers: requestFields(ask), isOffline: isOffline,
            ignoresCache: ignoresCache)
        return CacheRules.answer(
            to: request, stored: response(stored, asked: asked, status: status, delay: delay), now: Self.start + after)
    }
}

/// Makes a stored response with `makeStored`.
func response(_ lines: [String], asked: [String] = [], status: Int32 = 200, delay: Int64 = 0) -> StoredResponse? {
    let request = CacheableRequest(url: "http://a.test/", headers: requestFields(asked))
    let start = HTTPCacheCase.start
    let made = CacheRules.makeStored(
        request, status: status, url: "http://a.test/", fields: responseFields(lines), requestTime: start - delay,
        responseTime: start, family: 1)
    // A response with `Vary: *` is not stored, but another process may have written one.
    return made
        ?? StoredResponse(
            status: status, url: "http://a.test/", fields: responseFields(lines), requestTime: start - delay,
            responseTime: start)
}

func request(_ lines: [String] = [], method: String = "GET", isOffline: Bool = false) -> CacheableRequest {
    CacheableRequest(method: method, url: "http://a.test/", headers: requestFields(lines), isOffline: isOffline)
}

func responseFields(_ lines: [String]) -> ResponseFields { ResponseFields(lines.map(parts)) ?? ResponseFields() }

func requestFields(_ lines: [String]) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in lines.map(parts) { fields.set(name, to: value) }
    return fields
}

/// Formats the fields of a response as lines, for comparison.
func lines(_ fields: ResponseFields?) -> [String] {
    fields?.all.map { "\(String(cString: $0.name)): \(String(cString: $0.value))" } ?? []
}

private func parts(_ line: String) -> (name: String, value: String) {
    let colon = line.firstIndex(of: ":") ?? line.endIndex
    return (String(line[..<colon]), String(line[colon...].dropFirst(2)))
}

/// Returns the answer that a request with these fields must be sent to the server.
func asks(_ lines: String..., orServes: Bool = false) -> CacheAnswer {
    .validate(conditions: requestFields(lines), mayServeIfError: orServes)
}

/// Dates relative to the start of a case, by Python's email.utils.
enum Moment {
    static let hundredDaysBefore = "Fri, 01 Jun 2001 01:46:40 GMT"
    static let tenDaysBefore = "Thu, 30 Aug 2001 01:46:40 GMT"
    static let hourBefore = "Sun, 09 Sep 2001 00:46:40 GMT"
    static let thousandBefore = "Sun, 09 Sep 2001 01:30:00 GMT"
    static let hundredBefore = "Sun, 09 Sep 2001 01:45:00 GMT"
    static let minuteBefore = "Sun, 09 Sep 2001 01:45:40 GMT"
    static let start = "Sun, 09 Sep 2001 01:46:40 GMT"
    static let minuteAfter = "Sun, 09 Sep 2001 01:47:40 GMT"
    static let hundredAfter = "Sun, 09 Sep 2001 01:48:20 GMT"
    static let hourAfter = "Sun, 09 Sep 2001 02:46:40 GMT"
}
