internal import CSystem
internal import Glibc
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// The folders with installed coders: one shared object for each format, named after it. An object is used only if no
/// other user can have put it there.
final class CoderFolders: CoderSource {
    private static var names: [(format: ImageFormat, file: String)] {
        [
            (.webp, "webp.so"), (.avif, "avif.so"), (.gif, "gif.so"), (.jxl, "jxl.so"), (.heif, "heif.so"),
            (.bmp, "bmp.so"), (.ico, "ico.so"), (.svg, "svg.so"), (.icc, "icc.so"),
        ]
    }

    // MARK: - Looking

    /// Returns the folder of each format's object, and why others are not used.
    func findCoders() -> FoundCoders {
        var found = FoundCoders()
        for folder in Self.candidates() {
            var trust = sddsys_trust()
            let descriptor = sddsys_open_trusted_folder(folder, &trust)
            guard descriptor >= 0 else {
                guard trust.distrust != SDDSYS_MISSING else { continue }
                let clause = "in \(shown(folder)) are not used: \(Self.sentence(of: trust))"
                Self.say("Coders \(clause).")
                for (format, _) in Self.names { found.refusals[format] = found.refusals[format] ?? "coders \(clause)" }
                continue
            }
            defer { close(descriptor) }
            for (format, file) in Self.names where found.places[format] == nil && Self.mayUse(format) {
                switch Self.use(of: file, in: folder, descriptor) {
                case .used: found.places[format] = folder
                case .missing: break
                case .refused(let clause): found.refusals[format] = found.refusals[format] ?? clause
                }
            }
        }
        return found
    }

    /// Whether this process may decode pictures of a format: those that are programs are not for a process with
    /// privileges that its user does not have.
    private static func mayUse(_ format: ImageFormat) -> Bool { format != .svg || !sddsys_gains_privileges() }

    private enum Use {
        case used, missing
        /// The clause says why it is not used.
        case refused(String)
    }

    private static func use(of file: String, in folder: String, _ descriptor: Int32) -> Use {
        var error: Int32 = 0
        let distrust = sddsys_check_trusted_file(descriptor, file, &error)
        if distrust == SDDSYS_TRUSTED { return .used }
        if distrust == SDDSYS_MISSING { return .missing }
        let clause = "coder \(shown("\(folder)/\(file)")) is not used: it \(sentence(of: distrust, error))"
        say("The \(clause).")
        return .refused("the \(clause)")
    }

    /// The folders in which coders may be. The environment's are used as they are, so that an empty value means none.
    private static func candidates() -> [String] {
        if let variable = sddsys_secure_variable("SDD_CODER_PATH") {
            let folders = String(cString: variable).split(separator: ":").map(String.init)
            for folder in folders where !folder.hasPrefix("/") {
                say("Coders in \(shown(folder)) are not used: SDD_CODER_PATH takes absolute paths.")
            }
            return folders.filter { $0.hasPrefix("/") }
        }
        guard let library = sddsys_own_path().map({ String(cString: $0) }), let end = library.lastIndex(of: "/")
        else { return [] }
        return [library[..<end] + "/sdd/coders"]
    }

    // MARK: - Loading

    func load(_ format: ImageFormat, in folder: String) throws(CoderError) -> any AppCoder {
        do throws(LoadingFlaw) {
            return try loaded(format, in: folder)
        } catch {
            Self.say(error.sentence)
            let reason = error.sentence.hasSuffix(".") ? String(error.sentence.dropLast()) : error.sentence
            throw CoderError(.unknownFormat, reason)
        }
    }

    private func loaded(_ format: ImageFormat, in folder: String) throws(LoadingFlaw) -> any AppCoder {
        guard let file = Self.names.first(where: { $0.format == format })?.file else {
            throw LoadingFlaw(0, "There is no coder for this format.")
        }
        // The folder may have changed since it was found. Afterwards other users cannot change the path.
        let path = try Self.checkedPath(of: file, in: folder)
        let coder = try loadedCoder(path, isInstalled: true)
        guard coder.format == format else {
            throw LoadingFlaw(0, "The coder \(path) is of another format, \(coder.format.rawValue).")
        }
        coder.own()
        return coder
    }

    /// Returns the path of an object without symbolic links, after checking it once more.
    private static func checkedPath(of file: String, in folder: String) throws(LoadingFlaw) -> String {
        var trust = sddsys_trust()
        let descriptor = sddsys_open_trusted_folder(folder, &trust)
        guard descriptor >= 0 else {
            throw LoadingFlaw(0, "The coder \(folder)/\(file) is not used: \(sentence(of: trust)).")
        }
        defer { close(descriptor) }
        var error: Int32 = 0
        let distrust = sddsys_check_trusted_file(descriptor, file, &error)
        guard distrust == SDDSYS_TRUSTED else {
            throw LoadingFlaw(0, "The coder \(folder)/\(file) is not used: it \(sentence(of: distrust, error)).")
        }
        guard sddsys_is_whole_object(descriptor, file) == 1 else {
            throw LoadingFlaw(0, "The coder \(folder)/\(file) is not used: the file is cut off.")
        }
        return "\(path(of: trust))/\(file)"
    }

    // MARK: - The program that decodes

    func findDecoder(_ limits: DecodeLimits) throws(CoderError) -> HelperProgram { try DecoderProgram.find(limits) }

    // MARK: - Sentences

    private static func path(of trust: sddsys_trust) -> String {
        withUnsafeBytes(of: trust.path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static func sentence(of trust: sddsys_trust) -> String {
        "\(shown(path(of: trust).isEmpty ? "/" : path(of: trust))) \(sentence(of: trust.distrust, trust.system_error))"
    }

    /// Returns the end of a sentence whose subject is a path.
    private static func sentence(of distrust: sddsys_distrust, _ error: Int32) -> String {
        switch distrust {
        case SDDSYS_MISSING: "does not exist any more"
        case SDDSYS_OTHER_OWNER: "belongs neither to root nor to the user of this process"
        case SDDSYS_WRITABLE: "may be written to by its group or by others"
        case SDDSYS_NOT_A_FOLDER: "is not a folder"
        case SDDSYS_NOT_A_FILE: "is not a regular file"
        case SDDSYS_TOO_LONG: "is too long, or has too many symbolic links"
        default: "cannot be read (error \(error))"
        }
    }

    private static func say(_ text: String) { StandardErrorLog.write(.warning, text) }
}
