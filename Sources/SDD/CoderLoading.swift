internal import CSDD
internal import Glibc

/// Why a shared object gives no coder.
struct LoadingFlaw: Error {
    let status: sdd_status
    let sentence: String

    /// For who asks why the call failed; nil if it did not.
    var refusal: Refusal? {
        if status == sdd_status(SDD_OK) { return nil }
        return Refusal(Int(status), "path", sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence)
    }

    init(_ status: Int, _ sentence: String) {
        self.status = sdd_status(status)
        self.sentence = sentence
    }
}

/// The coder in a shared object, which from then on stays loaded.
func loadedCoder(_ path: UnsafePointer<CChar>?) throws(LoadingFlaw) -> VtableCoder {
    // dlopen takes "" for the program itself.
    guard let path, path.pointee != 0 else { throw LoadingFlaw(SDD_ERROR_INVALID_ARGUMENT, "There is no path.") }
    let shown = String(cString: path)
    guard let object = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
        // Of this thread, and from the call just made.
        let reason = dlerror().map { String(cString: $0) } ?? shown
        throw LoadingFlaw(SDD_ERROR_FILE_NOT_READABLE, "The coder cannot be loaded: \(reason).")
    }
    guard let symbol = dlsym(object, "sdd_coder_main") else {
        dlclose(object)
        throw LoadingFlaw(SDD_ERROR_NOT_FOUND, "There is no function sdd_coder_main in \(shown).")
    }
    // Safety: the header says what a function of this name is.
    guard let main = unsafeBitCast(symbol, to: sdd_coder_main_fn?.self), let given = main() else {
        throw LoadingFlaw(SDD_ERROR_NOT_FOUND, "sdd_coder_main of \(shown) gives no coder.")
    }
    var copy = sdd_coder()
    do throws(Refusal) {
        try read(given, "coder", into: &copy)
    } catch {
        throw LoadingFlaw(Int(error.status), "The coder in \(shown) cannot be read: \(error.sentence)")
    }
    switch VtableCoder.make(copy) {
    case .success(let coder): return coder
    case .failure(let flaw):
        throw LoadingFlaw(
            SDD_ERROR_INVALID_ARGUMENT, "The coder in \(shown) has no \(flaw.member), or one that is wrong.")
    }
}
