package import SDDBase
import SDDTransport

/// What the host does to a response and a body before they are judged and decoded. Immutable; equal if the
/// host gave the same functions and data. Run on a decode thread, with no lock held.
package final class BodyWork: Hashable, Sendable {
    /// - Returns: what to go on with; nil to refuse.
    package typealias Modifier = @Sendable (Response) -> Change?
    /// - Returns: nil for a body of which nothing can be made.
    package typealias Transform = @Sendable (Bytes, Response) -> Bytes?

    let modifier: Modifier?
    let transform: Transform?
    private let check: BodyCheck?
    /// In place of all else: what the body is to be.
    private let make: (@Sendable () -> Result<Bytes, DownloadError>)?
    private let identity: [UInt]
    /// The same for equal ones.
    let number: UInt64

    /// - Parameter identity: what tells one host's functions and data from another's.
    package init(modifier: Modifier?, transform: Transform?, check: BodyCheck? = nil, identity: [UInt]) {
        self.modifier = modifier
        self.transform = transform
        self.check = check
        self.identity = identity
        make = nil
        number = Self.number(of: identity)
    }

    /// - Parameter make: why there is none ends the request.
    init(making make: @escaping @Sendable () -> Result<Bytes, DownloadError>, identity: [UInt]) {
        (modifier, transform, check) = (nil, nil, nil)
        self.make = make
        self.identity = identity
        number = Self.number(of: identity)
    }

    private static func number(of identity: [UInt]) -> UInt64 {
        identity.reduce(1) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// The same, of a body that is what is expected.
    package static func checking(_ check: BodyCheck, before work: BodyWork?) -> BodyWork {
        BodyWork(
            modifier: work?.modifier, transform: work?.transform, check: check,
            identity: (work?.identity ?? []) + check.words)
    }

    package static func == (a: BodyWork, b: BodyWork) -> Bool { a === b || a.identity == b.identity }

    package func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    /// What a modifier makes of a response.
    package struct Change: Sendable {
        let status: Int32
        let type: String
        /// Header fields; nil: as they were.
        let fields: ResponseFields?

        package init(_ status: Int32, _ type: String, fields: ResponseFields? = nil) {
            self.status = status
            self.type = type
            self.fields = fields
        }
    }

    /// What came of it.
    enum Outcome: Sendable {
        case done(Judged, Bytes)
        /// The modifier has refused the response.
        case refused
        /// The transform gave nothing.
        case nothing(Judged)
        /// It is not the body that is expected.
        case unexpected
        /// Nothing could be made.
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

/// What a response is judged by.
struct Judged: Sendable {
    let status: Int32
    /// In lower case; nil: to be read from the response, if it is asked for at all.
    private let type: String?
    private let response: Response
    /// With header fields of the application's.
    let changed: Response?

    init(_ response: Response) {
        status = response.status
        type = nil
        changed = nil
        self.response = response
    }

    init(_ change: BodyWork.Change, of response: Response) {
        status = change.status
        type = change.type.lowercased()
        changed = change.fields.map { Response(response, withFields: $0) }
        self.response = response
    }

    var mimeType: String { type ?? response.fields.mimeType }

    /// Why one caller does not take it; nil if it does.
    func refusal(by acceptance: Acceptance) -> DownloadError? {
        // Only the caller's own conditional header brings it, and then there is no body (RFC 9110 §15.4.5).
        if status == 304 { return .notModified }
        if !acceptance.takes(status: status) {
            return .status(status, retryAfter: RetryAfter.seconds(in: changed ?? response, now: 0))
        }
        if !acceptance.takes(type: mimeType) { return .contentType(mimeType) }
        return nil
    }
}
