/// The reason why bytes gave no picture.
package struct CoderError: Error, Equatable {
    package enum Kind: Int32, Sendable {
        case empty, unknownFormat, corrupt, truncated, zeroPixels, tooManyPixels, tooManyScans, tooSlow, tooMuchMemory,
            /// A small body requires much memory, see `DecodeLimits.maxRatio`.
            tooMuchForBody,
            unsupported, noMemory, bufferTooSmall, tooManyFrames, chunkTooLarge,
            /// An application's coder returned invalid data.
            coder,
            /// The picture was decoded, but a transform failed.
            transform,
            /// The process that decodes could not be started, or ended before it answered.
            decoder
    }

    package let kind: Kind

    /// True if the body may be good, and a picture in another form may be possible.
    var isOfForm: Bool {
        switch kind {
        case .tooManyPixels, .noMemory, .bufferTooSmall, .transform: true
        default: false
        }
    }

    /// Message of the C library, or further details; may be empty.
    package let reason: String

    package init(_ kind: Kind, _ reason: String = "") {
        self.kind = kind
        self.reason = reason
    }
}
