internal import CSystem
internal import Glibc
internal import SDDCoders

/// The program sdd-decoder, which decodes pictures in a process of its own.
enum DecoderProgram {
    /// Finds the program: the one that the environment names, or the one that is installed with this library. Who may
    /// replace the latter may replace the library, too. All paths are absolute: the application may change its directory
    /// before a helper starts.
    /// - Throws: `.noDecoder`.
    static func find(_ limits: DecodeLimits) throws(CoderError) -> HelperProgram {
        guard let library = sddsys_own_path().map({ String(cString: $0) }) else {
            throw CoderError(.noDecoder, "the system does not say from which file this library was loaded")
        }
        let candidates = try candidates(library)
        guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw CoderError(
                .noDecoder, "no program that decodes is installed as \(candidates.joined(separator: " or "))")
        }
        return HelperProgram(path: path, library: library, limits: limits)
    }

    private static func candidates(_ library: String) throws(CoderError) -> [String] {
        if let variable = sddsys_secure_variable("SDD_DECODER") {
            let path = String(cString: variable)
            guard path.hasPrefix("/") else {
                throw CoderError(.noDecoder, "SDD_DECODER takes an absolute path, and is \(shown(path))")
            }
            return [path]
        }
        guard let end = library.lastIndex(of: "/") else { return [] }
        return ["/sdd/sdd-decoder", "/sdd-decoder"].map { library[..<end] + $0 }
    }
}
