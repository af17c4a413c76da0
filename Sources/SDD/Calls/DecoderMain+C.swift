internal import CHelper
internal import CSDD
internal import Glibc
internal import SDDCoders

/// The main function of a process that decodes. Thread: the main thread, before any other call.
/// The arguments are those of `sddhelper_start`: the program, this library, the memory it may take, and perhaps the
/// shared object of a coder. Returns an exit status; 64 means that nobody but a person has started the program.
@_cdecl("sdd_decoder_main")
public func sddDecoderMain(
    _ count: Int32, _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    var type: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard (3...4).contains(count), let arguments, let limit = arguments[2],
        let memory = UInt64(String(cString: limit)),
        getsockopt(Int32(SDDHELPER_SOCKET), SOL_SOCKET, SO_TYPE, &type, &size) == 0
    else {
        return 64
    }
    sddhelper_close_others()
    var coder: AppCoderBridge?
    if count == 4, let object = arguments[3] {
        do throws(LoadingFlaw) { coder = try loadedCoder(object) } catch { return 1 }
    }
    guard sddhelper_enter_sandbox(memory) == 0 else { return 2 }
    return HelperService(coder: coder).run()
}
