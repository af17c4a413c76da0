import SDDBase
import SDDTransport
import TestSupport

/// A transport of the application that records its calls.
final class FakeAppTransport: AppTransport {
    enum Call: Equatable {
        case start(UInt64, url: String, Priority)
        case cancel(UInt64)
        case setPriority(UInt64, Priority)
    }

    private let calls = Recorder<Call>()
    private let onStart: @Sendable (TransferID) -> Void

    /// - Parameter onStart: An answer from inside `start`, which applications may give.
    init(onStart: @escaping @Sendable (TransferID) -> Void = { _ in }) { self.onStart = onStart }

    var called: [Call] { calls.all }

    func start(_ id: TransferID, _ request: HTTPRequest, priority: Priority) {
        calls.record(.start(id.number, url: request.url.text, priority))
        onStart(id)
    }

    func cancel(_ id: TransferID) { calls.record(.cancel(id.number)) }

    func setPriority(_ id: TransferID, to priority: Priority) { calls.record(.setPriority(id.number, priority)) }
}
