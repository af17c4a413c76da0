/// Why bytes gave no picture.
package struct CoderError: Error, Equatable {
    package enum Kind: Sendable {
        case empty, unknownFormat, corrupt, truncated, zeroPixels, tooManyPixels, tooManyScans, tooSlow, tooMuchMemory,
            unsupported,
            noMemory,
            /// A coder of the host's gave what cannot be.
            coder
    }

    package let kind: Kind
    /// What the C library said, or a number worth knowing; may be empty.
    package let reason: String

    package init(_ kind: Kind, _ reason: String = "") {
        self.kind = kind
        self.reason = reason
    }
}
