internal import CCurl
internal import SDDBase

/// The header fields of a request in libcurl's form. Most requests carry the downloader's own fields, all
/// sharing one storage, so one list serves many transfers; each keeps it alive while libcurl reads it.
/// thread: sdd-net
final class HeaderList {
    private let fields: HTTPFields
    private let bearerToken: String?
    private let staysPacked: Bool
    private let lines: StringList

    /// - Returns: nil when there is no memory.
    init?(_ request: HTTPRequest) {
        fields = request.headers
        bearerToken = request.bearerToken
        staysPacked = request.options.values.staysPacked
        var sent = request.headers
        if let resume = request.resume { Self.askForRest(of: resume, in: &sent) }
        let given = sent.fields.map { Self.line($0.name, $0.value) }
        let own = Self.additions(to: sent, request.bearerToken, staysPacked: staysPacked).map { Self.line($0, $1) }
        let without = Self.unwanted.filter { request.headers[$0] == nil }.map { $0 + ":" }
        guard let lines = StringList(given + own + without) else { return nil }
        self.lines = lines
    }

    var first: UnsafeMutablePointer<curl_slist>? { lines.first }

    /// Not the list of a request that has a resume point; such a one is for itself. Costs one comparison of addresses
    /// when the two share their storage.
    func serves(_ request: HTTPRequest) -> Bool {
        request.resume == nil && fields == request.headers && bearerToken == request.bearerToken
            && staysPacked == request.options.values.staysPacked
    }

    /// RFC 9110 §13.1.5 and §14.2: the rest if it is one of the same body, else all.
    private static func askForRest(of resume: ResumePoint, in fields: inout HTTPFields) {
        fields.set("Range", to: "bytes=\(resume.count)-")
        fields.set("If-Range", to: resume.validator.text)
        // A part of packed data would be one of another body.
        fields.set("Accept-Encoding", to: "identity")
    }

    /// What the caller's own fields leave open.
    private static func additions(
        to fields: HTTPFields, _ bearerToken: String?, staysPacked: Bool
    ) -> [(String, String)] {
        var additions: [(String, String)] = []
        if let bearerToken, fields["Authorization"] == nil {
            additions.append(("Authorization", "Bearer " + bearerToken))
        }
        // A part of packed data cannot be unpacked. And RFC 9110 §12.5.3: without the field a server may choose.
        if fields["Range"] != nil || staysPacked, fields["Accept-Encoding"] == nil {
            additions.append(("Accept-Encoding", "identity"))
        }
        return additions
    }

    /// What libcurl would add by itself, and is told not to by a line without a value. "Expect" would make
    /// a body wait a second for servers that do not know it.
    private static let unwanted = ["Accept", "Content-Type", "Expect"]

    private static func line(_ name: String, _ value: String) -> String {
        // libcurl reads "Name:" without a value as an order to leave the field out; "Name;" sends it.
        let isBlank = value.utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return isBlank ? name + ";" : name + ": " + value
    }
}

extension HTTPRequest {
    /// The one of its credential, for a header field of our own.
    var bearerToken: String? { options.values.credential?.bearerToken }

    /// Whether one list serves both; to be asked of two hops of one transfer.
    func sendsHeaders(alike other: HTTPRequest) -> Bool {
        headers == other.headers && bearerToken == other.bearerToken && (resume == nil) == (other.resume == nil)
    }
}
