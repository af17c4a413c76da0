internal import CJPEG
internal import CPNG

// The errors of the C libraries are converted to errors of this module only here.

extension CoderError.Kind {
    /// Returns `nil` for success, and if more bytes are needed.
    init?(_ status: sddj_status) {
        switch status {
        case SDDJ_OK, SDDJ_NEEDS_MORE: return nil
        case SDDJ_TRUNCATED: self = .truncated
        case SDDJ_ZERO_PIXELS: self = .zeroPixels
        case SDDJ_UNSUPPORTED: self = .unsupported
        case SDDJ_TOO_MANY_SCANS: self = .tooManyScans
        case SDDJ_TOO_SLOW: self = .tooSlow
        case SDDJ_NO_MEMORY: self = .noMemory
        default: self = .corrupt
        }
    }

    /// Returns `nil` for success, and if more bytes are needed.
    init?(_ status: sddp_status) {
        switch status {
        case SDDP_OK, SDDP_NEEDS_MORE: return nil
        case SDDP_TRUNCATED: self = .truncated
        case SDDP_ZERO_PIXELS: self = .zeroPixels
        case SDDP_UNSUPPORTED: self = .unsupported
        case SDDP_TOO_SLOW: self = .tooSlow
        case SDDP_NO_MEMORY: self = .noMemory
        case SDDP_TOO_LARGE: self = .chunkTooLarge
        default: self = .corrupt
        }
    }
}
