internal import CCurl
internal import SDDBase

/// The header fields of a request as a libcurl list. Most requests carry the downloader's own fields, which share one
/// storage, so one list serves many transfers. Each transfer keeps the list alive while libcurl reads it.
/// thread: sdd-net
final class HeaderList {
    private let fields: HTTPFields
    private let bearerToken: String?
    private let staysPacked: Bool
    private let usesCookies: Bool
    private let mayHaveBody: Bool
    private let lines: StringList

    /// - Returns: `nil` if there is no memory.
    init?(_ request: HTTPRequest) {
        fields = request.headers
        bearerToken = request.bearerToken
        staysPacked = request.options.values.staysPacked
        usesCookies = request.options.values.usesCookies
        mayHaveBody = request.mayHaveBody
        var sent = request.headers
        if let authorization = request.authorization { sent.set("Authorization", to: authorization.field) }
        if let resume = request.resume { Self.askForRest(of: resume, in: &sent) }
        let isJarred = request.cookiesBesideJar != nil  // the cookies are an option of the handle: CurlOptions.apply
        let listed = sent.fields.filter { !(isJarred && HTTPFields.isSameName($0.name, "Cookie")) }
        let given = listed.map { Self.line($0.name, $0.value) }
        let own = Self.additions(to: sent, request.bearerToken, staysPacked: staysPacked).map { Self.line($0, $1) }
        let unwanted = mayHaveBody ? Self.unwanted + Self.unwantedWithBody : Self.unwanted
        let without = unwanted.filter { request.headers[$0] == nil }.map { $0 + ":" }
        guard let lines = StringList(given + own + without) else { return nil }
        self.lines = lines
    }

    var first: UnsafeMutablePointer<curl_slist>? { lines.first }

    /// Whether the list fits another request. Never true for a request that needs a list of its own. Costs one comparison of addresses if both requests share their storage.
    func serves(_ request: HTTPRequest) -> Bool {
        !request.needsOwnHeaders && fields == request.headers && bearerToken.hasSameBytes(as: request.bearerToken)
            && staysPacked == request.options.values.staysPacked && usesCookies == request.options.values.usesCookies
            && mayHaveBody == request.mayHaveBody
    }

    /// Requests the rest of a body if it is unchanged, otherwise the whole: RFC 9110 §13.1.5 and §14.2.
    private static func askForRest(of resume: ResumePoint, in fields: inout HTTPFields) {
        fields.set("Range", to: "bytes=\(resume.count)-")
        fields.set("If-Range", to: resume.validator.text)
        // A range of compressed data would belong to a different body.
        fields.set("Accept-Encoding", to: "identity")
    }

    /// Returns the fields to add to the caller's own.
    private static func additions(
        to fields: HTTPFields, _ bearerToken: String?, staysPacked: Bool
    ) -> [(String, String)] {
        var additions: [(String, String)] = []
        if let bearerToken, fields["Authorization"] == nil {
            additions.append(("Authorization", "Bearer " + bearerToken))
        }
        if fields["Accept-Encoding"] == nil {
            // A range of compressed data cannot be decompressed. RFC 9110 §12.5.3: without the field a server may
            // choose a coding. libcurl would write "gzip" itself, but anew for each request.
            let isPlain = fields["Range"] != nil || staysPacked
            additions.append(("Accept-Encoding", isPlain ? "identity" : CurlOptions.acceptedCoding))
        }
        return additions
    }

    /// Fields that libcurl would add by itself. A line without a value prevents that, and costs a comparison for each
    /// line of each request.
    private static let unwanted = ["Accept"]
    /// "Expect" would delay a body by a second with servers that do not support it.
    private static let unwantedWithBody = ["Content-Type", "Expect"]

    private static func line(_ name: String, _ value: String) -> String {
        // To libcurl "Name:" without a value means that the field is left out; "Name;" sends it empty.
        let isBlank = value.utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return isBlank ? name + ";" : name + ": " + value
    }
}

extension HTTPRequest {
    /// False for a request that libcurl sends without a body.
    fileprivate var mayHaveBody: Bool { body != nil || method != "GET" && method != "HEAD" }

    /// Whether the request has header fields of its own: the range that a resume point asks for, or an authorization.
    var needsOwnHeaders: Bool { resume != nil || authorization != nil }

    /// The request's own cookies, if those of the jar go with it. libcurl then makes one field of both (RFC 6265 section
    /// 5.4: no more than one); many servers read only one of two.
    var cookiesBesideJar: String? {
        guard options.values.usesCookies else { return nil }
        let values = headers.fields.filter { HTTPFields.isSameName($0.name, "Cookie") }.map(\.value)
        let cookies = values.filter { !$0.utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }
        return cookies.isEmpty ? nil : cookies.joined(separator: "; ")
    }

    /// The credential's bearer token, which is sent in a header field.
    var bearerToken: String? { options.values.credential?.bearerToken }

    /// Whether one list serves both requests, which must be two hops of one transfer.
    func sendsHeaders(alike other: HTTPRequest) -> Bool {
        headers == other.headers && bearerToken.hasSameBytes(as: other.bearerToken)
            && (resume == nil) == (other.resume == nil)
            && mayHaveBody == other.mayHaveBody && authorization == other.authorization
    }
}
