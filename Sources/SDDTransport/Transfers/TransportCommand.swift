package import SDDBase

package enum TransportCommand: Sendable {
    case start(TransferID, HTTPRequest, Priority)
    case cancel(TransferID)
    /// Stops reading and sending without ending the transfer. Its clocks stop until `.resume`.
    case pause(TransferID)
    case resume(TransferID)
    case setPriority(TransferID, Priority)
    /// Shows the body received so far in `.body` events, from now on.
    case show(TransferID)
}
