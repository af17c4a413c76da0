/// The id of one transfer, which is never reused.
package struct TransferID: Hashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }
}
