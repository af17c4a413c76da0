import Glibc

/// A copy of a text for C: UTF-8 with a NUL at its end. Immutable, shared by reference.
package final class CText: @unchecked Sendable {
    // Safety: set once, and the memory is not written after `init`.
    private let memory: UnsafeMutablePointer<CChar>?

    package init(_ text: String) { memory = strdup(text) }

    deinit { free(memory) }

    /// Valid while this object lives. nil when there was no memory.
    package var pointer: UnsafePointer<CChar>? { UnsafePointer(memory) }
}
