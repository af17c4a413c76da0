package import SDDBase
import SDDTransport

/// A request as the application's request modifier sees and changes it. A value type.
package struct RequestDraft: Sendable {
    package var url: ImageURL
    /// A method that allows no body removes the body.
    package var method = "GET" { didSet { if !mayHaveBody { body = nil } } }
    package var headers: HTTPFields
    package var body: Bytes?

    /// Whether the method allows a body. RFC 9110 §9.3.1: the body of a GET or HEAD request has no meaning, and servers
    /// may refuse it.
    package var mayHaveBody: Bool { method != "GET" && method != "HEAD" }
}

/// The application's functions that change requests and responses.
package protocol RequestModifiers: Sendable {
    /// Whether `change` has a function to call.
    var changesRequests: Bool { get }
    /// The work on bodies; `nil` for none.
    var bodyWork: BodyWork? { get }

    /// Returns the work on bodies of a request that has these modifiers, on a downloader that has others: each function
    /// that is set here takes precedence.
    func bodyWork(over standard: (any RequestModifiers)?) -> BodyWork?

    /// Lets the application change a request. Thread: the submitting one, with no lock held.
    /// - Parameter defaults: those of the request's downloader.
    /// - Returns: false to refuse the request.
    func change(_ draft: inout RequestDraft, _ defaults: RequestDefaults) -> Bool
}
