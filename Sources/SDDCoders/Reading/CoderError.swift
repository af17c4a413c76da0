/// Why bytes gave no picture.
package struct CoderError: Error, Equatable {
    package enum Kind: Sendable {
        case empty, unknownFormat, corrupt, truncated, zeroPixels, tooManyPixels, tooManyScans, tooSlow, tooMuchMemory,
            /// A small body asks for much memory: see `DecodeLimits.maxRatio`.
            tooMuchForBody,
            unsupported, noMemory, bufferTooSmall, tooManyFrames, chunkTooLarge,
            /// A coder of the host's gave what cannot be.
            coder,
            /// There is a picture, and a transform made nothing of it.
            transform
    }

    package let kind: Kind

    /// The body may well be good: in another form there would be a picture.
    var isOfForm: Bool {
        switch kind {
        case .tooManyPixels, .noMemory, .bufferTooSmall, .transform: true
        default: false
        }
    }

    /// What the C library said, or a number worth knowing; may be empty.
    package let reason: String

    package init(_ kind: Kind, _ reason: String = "") {
        self.kind = kind
        self.reason = reason
    }
}
