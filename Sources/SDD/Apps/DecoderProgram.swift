internal import CSDD
internal import CSystem
internal import Glibc
internal import SDDCoders

/// The program sdd-decoder, which decodes pictures in a process of its own.
enum DecoderProgram {
    /// Finds the program: the one that the environment names, or the one that is installed with this library. Who may
    /// replace the latter may replace the library, too.
    static func find(_ limits: DecodeLimits) throws(Refusal) -> HelperProgram {
        let library = sddsys_own_path().map { String(cString: $0) } ?? ""
        let candidates = candidates(library)
        guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else {
            let places = candidates.isEmpty ? "SDD_DECODER" : candidates.joined(separator: " or ")
            throw Refusal(
                SDD_ERROR_UNSUPPORTED, "sdd_downloader_config.decode_mode",
                "no program that decodes is installed as \(places)")
        }
        return HelperProgram(path: path, library: library, memory: memory(limits))
    }

    private static func candidates(_ library: String) -> [String] {
        if let variable = sddsys_secure_variable("SDD_DECODER") { return [String(cString: variable)] }
        guard let end = library.lastIndex(of: "/") else { return [] }
        return ["/sdd/sdd-decoder", "/sdd-decoder"].map { library[..<end] + $0 }
    }

    /// Memory for a picture, a preview of it, and the library itself.
    private static func memory(_ limits: DecodeLimits) -> UInt64 {
        guard limits.maxBytes > 0 else { return 0 }
        let (double, isTooMuch) = UInt64(limits.maxBytes).multipliedReportingOverflow(by: 2)
        return isTooMuch ? 0 : min(double, 1 << 62) + own
    }

    private static let own: UInt64 = 512 << 20
}
