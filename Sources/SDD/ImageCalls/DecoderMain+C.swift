internal import CHelper
internal import CSDD
internal import Glibc
internal import SDDCoders

/// The main function of a process that decodes. Thread: the main thread, before any other call.
/// The arguments are those of `sddhelper_start`: the program, this library, the limits on memory, on the file of pixels and
/// on CPU time, and perhaps the shared object of a coder. Returns an exit status; 64 means that nobody but a person has
/// started the program.
@_cdecl("sdd_decoder_main")
public func sddDecoderMain(
    _ count: Int32, _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    var type: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard (5...6).contains(count), let arguments, var limits = limits(in: arguments),
        getsockopt(Int32(SDDHELPER_SOCKET), SOL_SOCKET, SO_TYPE, &type, &size) == 0,
        sddhelper_follow_application() == 0
    else {
        return 64
    }
    sddhelper_close_others()
    var coder: AppCoderBridge?
    if count == 6, let object = arguments[5] {
        do throws(LoadingFlaw) {
            coder = try loadedCoder(object, isAlone: true)
        } catch {
            HelperService.greet(.noCoder(error.sentence))
            return 1
        }
    }
    coder?.isolate()
    let error = sddhelper_enter_sandbox(&limits)
    guard error == 0 else {
        HelperService.greet(.noSandbox(error))
        return 2
    }
    return HelperService(coder: coder).run()
}

/// Returns the limits that the arguments name; `nil` if they name none.
private func limits(in arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>) -> sddhelper_limits? {
    let numbers = (2...4).compactMap { index in arguments[index].flatMap { UInt64(String(cString: $0)) } }
    guard numbers.count == 3 else { return nil }
    return sddhelper_limits(memory: numbers[0], pixels: numbers[1], seconds: numbers[2])
}
