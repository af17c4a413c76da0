package import SDDBase
import SDDTransport

/// The application's processing of a response and its body before they are judged and decoded. Immutable; two values
/// are equal if the application gave the same functions and data. Runs on a decode thread, with no lock held.
package final class BodyWork: Hashable, Sendable {
    /// - Returns: the status, media type and header fields to continue with, or nil to refuse the response.
    package typealias Modifier = @Sendable (Response) -> Change?
    /// - Returns: the bytes to continue with, or nil if the body cannot be transformed.
    package typealias Transform = @Sendable (Bytes, Response) -> Bytes?

    let modifier: Modifier?
    let transform: Transform?
    private let check: BodyCheck?
    /// Produces the body itself. If set, no modifier or transform runs.
    private let make: (@Sendable () -> Result<Bytes, DownloadError>)?
    private let identity: [UInt]
    /// Hash of `identity`; equal for equal values.
    let hashKey: UInt64

    /// - Parameter identity: words that distinguish one set of application functions and data from another.
    package init(modifier: Modifier?, transform: Transform?, check: BodyCheck? = nil, identity: [UInt]) {
        self.modifier = modifier
        self.transform = transform
        self.check = check
        self.identity = identity
        make = nil
        hashKey = Self.hashKey(of: identity)
    }

    /// - Parameter make: produces the body; its error ends the request.
    init(making make: @escaping @Sendable () -> Result<Bytes, DownloadError>, identity: [UInt]) {
        (modifier, transform, check) = (nil, nil, nil)
        self.make = make
        self.identity = identity
        hashKey = Self.hashKey(of: identity)
    }

    private static func hashKey(of identity: [UInt]) -> UInt64 {
        identity.reduce(1) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Returns `work` with `check` run on the received body before it.
    package static func checking(_ check: BodyCheck, before work: BodyWork?) -> BodyWork {
        BodyWork(
            modifier: work?.modifier, transform: work?.transform, check: check,
            identity: (work?.identity ?? []) + check.words)
    }

    package static func == (a: BodyWork, b: BodyWork) -> Bool { a === b || a.identity == b.identity }

    package func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    /// A modifier's replacement for parts of a response.
    package struct Change: Sendable {
        let status: Int32
        let type: String
        /// Header fields; `nil` leaves them unchanged.
        let fields: ResponseFields?

        package init(_ status: Int32, _ type: String, fields: ResponseFields? = nil) {
            self.status = status
            self.type = type
            self.fields = fields
        }
    }

    /// The result of `run(on:response:)`.
    enum Outcome: Sendable {
        case done(Judged, Bytes)
        /// The modifier refused the response.
        case refused
        /// The transform returned no bytes.
        case nothing(Judged)
        /// The body failed the integrity check.
        case unexpected
        /// The body could not be produced.
        case failed(DownloadError)
    }

    func run(on bytes: Bytes, response: Response) -> Outcome {
        if let check, !check.accepts(bytes) { return .unexpected }
        if let make {
            switch make() {
            case .success(let made): return .done(Judged(response), made)
            case .failure(let error): return .failed(error)
            }
        }
        var judged = Judged(response)
        if let modifier {
            guard let change = modifier(response) else { return .refused }
            judged = Judged(change, of: response)
        }
        guard let transform else { return .done(judged, bytes) }
        guard let transformed = transform(bytes, judged.changed ?? response) else { return .nothing(judged) }
        return .done(judged, transformed)
    }
}

/// The parts of a response that acceptance is judged by.
struct Judged: Sendable {
    private let response: Response
    private let change: Change?

    /// The status, media type and header fields that the application's response modifier has set. A class, because few
    /// responses are changed.
    private final class Change: Sendable {
        let status: Int32
        /// In lower case.
        let type: String
        let response: Response?

        init(_ change: BodyWork.Change, of response: Response) {
            status = change.status
            type = change.type.lowercased()
            self.response = change.fields.map { Response(response, withFields: $0) }
        }
    }

    init(_ response: Response) {
        self.response = response
        change = nil
    }

    init(_ change: BodyWork.Change, of response: Response) {
        self.response = response
        self.change = Change(change, of: response)
    }

    var status: Int32 { change?.status ?? response.status }
    var mimeType: String { change?.type ?? response.fields.mimeType }
    /// The response with the application's header fields; `nil` if they are unchanged.
    var changed: Response? { change?.response }

    /// Whether a caller with this acceptance takes the response.
    func isAccepted(by acceptance: Acceptance) -> Bool {
        // A 304 answers only the caller's own conditional header field, and carries no body (RFC 9110 §15.4.5).
        status != 304 && acceptance.takes(status: status) && acceptance.takes(type: mimeType)
    }

    /// Returns the reason why a caller with this acceptance refuses the response, or `nil` if it accepts it.
    func refusal(by acceptance: Acceptance) -> DownloadError? {
        if isAccepted(by: acceptance) { return nil }
        if status == 304 { return .notModified }
        if acceptance.takes(status: status) { return .contentType(mimeType) }
        return .status(status, retryAfter: RetryAfter.seconds(in: changed ?? response, now: 0))
    }
}
