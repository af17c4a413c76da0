internal import CSDD
internal import Glibc
internal import SDDBase

/// The reason why no coder could be loaded from a shared object.
struct LoadingFlaw: Error {
    let status: sdd_status
    let sentence: String

    var refusal: Refusal {
        Refusal(Int(status), "path", sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence)
    }

    init(_ status: Int, _ sentence: String) {
        self.status = sdd_status(status)
        self.sentence = sentence
    }
}

/// Loads a coder from a shared object, which then stays loaded.
/// - Parameter isAlone: true in a process that only decodes. Functions that the object exports then take the place of
///   those of libraries that its libraries load later, as they do for those that it is linked with.
func loadedCoder(
    _ path: UnsafePointer<CChar>?, isInstalled: Bool = false, isAlone: Bool = false
) throws(LoadingFlaw) -> AppCoderBridge {
    // For dlopen(), an empty path means the program itself.
    guard let path, path.pointee != 0 else { throw LoadingFlaw(SDD_ERROR_INVALID_ARGUMENT, "There is no path.") }
    let shown = String(cString: path)
    let file = absolute(shown)
    LockOrder.checkThatNoneIsHeld()
    guard let object = dlopen(file ?? shown, RTLD_NOW | (isAlone ? RTLD_GLOBAL : RTLD_LOCAL)) else {
        // dlerror() reports the latest error of the calling thread.
        let reason = dlerror().map { String(cString: $0) } ?? shown
        throw LoadingFlaw(SDD_ERROR_FILE_NOT_READABLE, "The coder cannot be loaded: \(reason).")
    }
    guard let symbol = dlsym(object, "sdd_coder_main") else {
        dlclose(object)
        throw LoadingFlaw(SDD_ERROR_NOT_FOUND, "There is no function sdd_coder_main in \(shown).")
    }
    // Safety: the library's header defines the type of a function of this name.
    guard let main = unsafeBitCast(symbol, to: sdd_coder_main_fn?.self), let given = main() else {
        throw LoadingFlaw(SDD_ERROR_NOT_FOUND, "sdd_coder_main of \(shown) gives no coder.")
    }
    let copy: sdd_coder
    do throws(Refusal) {
        copy = try read(given, "coder")
    } catch {
        throw LoadingFlaw(Int(error.status), "The coder in \(shown) cannot be read: \(error.sentence)")
    }
    do throws(VtableFlaw) {
        return try AppCoderBridge(copy, isInstalled: isInstalled, object: file ?? shown)
    } catch {
        throw LoadingFlaw(
            SDD_ERROR_INVALID_ARGUMENT, "The coder in \(shown) has no \(error.member), or one that is wrong.")
    }
}

/// Returns the absolute path of an object, by which a process that decodes finds it later, when this one may have
/// changed its directory. A name without "/" is for the system's loader, in whose directories that process looks as
/// well; `nil` for that, and for a file that does not exist.
private func absolute(_ path: String) -> String? {
    guard path.contains("/"), let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
}
