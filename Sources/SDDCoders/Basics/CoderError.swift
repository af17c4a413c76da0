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
            /// The process that decodes ended before it answered.
            decoder,
            /// There is no process that decodes: it could not be started, or something else has killed it. This is about
            /// the machine, and not about the picture.
            noDecoder
    }

    package let kind: Kind
    /// The error number of the system, if that is the reason; else 0.
    package let systemError: Int32

    /// True if the body may be good, and a picture in another form may be possible.
    var isOfForm: Bool {
        switch kind {
        case .tooManyPixels, .noMemory, .bufferTooSmall, .transform: true
        default: false
        }
    }

    /// True if the picture is larger than the limits allow, which in another form it may not be.
    var isOfLimit: Bool { kind == .tooManyPixels || kind == .tooMuchMemory || kind == .tooMuchForBody }

    /// True if the body is damaged or cut, of which another form may show the rest.
    var isDamage: Bool { kind == .corrupt || kind == .truncated }

    /// Message of the C library, or further details; may be empty.
    package let reason: String

    package init(_ kind: Kind, _ reason: String = "", systemError: Int32 = 0) {
        self.kind = kind
        self.systemError = systemError
        self.reason = reason
    }
}
