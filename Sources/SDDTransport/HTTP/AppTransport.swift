package import SDDBase

/// A transport that the application provides. Thread: `sdd-net`, except for `takes`. It answers to `AppTransfers`.
package protocol AppTransport: AnyObject, Sendable {
    /// Whether the transport fetches that URL of its scheme. Thread: the submitting one, with no lock held.
    func takes(_ url: ImageURL) -> Bool
    func start(_ id: TransferID, _ request: HTTPRequest, priority: Priority)
    func cancel(_ id: TransferID)
    func setPriority(_ id: TransferID, to priority: Priority)
}

extension AppTransport {
    package func takes(_ url: ImageURL) -> Bool { true }
}
