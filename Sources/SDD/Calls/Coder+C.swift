public import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

@_cdecl("sdd_process_add_coder") @implementation
public func sdd_process_add_coder(
    _ given: UnsafePointer<sdd_coder>?, _ missing: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> sdd_status {
    status { () throws(Refusal) in
        let coder = try madeCoder(given, missing)
        prepareForForks()
        coder.own()
        AppCoderList.process.add(coder)
    }
}

@_cdecl("sdd_process_remove_coder") @implementation
public func sdd_process_remove_coder(_ name: UnsafePointer<CChar>?) -> sdd_status {
    status { () throws(Refusal) in
        guard name != nil else { throw .null("name") }
        guard let known = headerName(name), AppCoderList.process.remove(named: known) else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "name", "no coder \(shown(name)) is registered")
        }
    }
}

@_cdecl("sdd_downloader_add_coder") @implementation
public func sdd_downloader_add_coder(
    _ downloader: OpaquePointer?, _ given: UnsafePointer<sdd_coder>?,
    _ missing: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> sdd_status {
    status { () throws(Refusal) in
        let coder = try madeCoder(given, missing)
        let downloader = try Downloaders.downloader(downloader)
        coder.own()
        downloader.coders.add(coder)
    }
}

@_cdecl("sdd_downloader_remove_coder") @implementation
public func sdd_downloader_remove_coder(_ downloader: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> sdd_status {
    status { () throws(Refusal) in
        guard name != nil else { throw .null("name") }
        let downloader = try Downloaders.downloader(downloader)
        guard let known = headerName(name), downloader.coders.remove(named: known) else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "name", "the downloader has no coder \(shown(name))")
        }
    }
}

@_cdecl("sdd_process_load_coder_wait") @implementation
public func sdd_process_load_coder_wait(
    _ path: UnsafePointer<CChar>?, _ message: UnsafeMutablePointer<CChar>?, _ capacity: Int
) -> sdd_status {
    var flaw = LoadingFlaw(SDD_OK, "")
    do throws(LoadingFlaw) {
        let coder = try loadedCoder(path)
        prepareForForks()
        coder.own()
        AppCoderList.process.add(coder)
    } catch {
        flaw = error
    }
    writeCut(flaw.sentence, to: message, capacity: capacity)
    return status("sdd_process_load_coder_wait") { () throws(Refusal) in
        if let refusal = flaw.refusal { throw refusal }
    }
}

/// Makes a coder, which does not own the application's data yet, since the call may still fail.
private func madeCoder(
    _ given: UnsafePointer<sdd_coder>?, _ missing: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) throws(Refusal) -> AppCoderBridge {
    missing?.pointee = nil
    var copy = sdd_coder()
    try read(given, "coder", into: &copy)
    guard copy.reserved == 0 else { throw .reserved("sdd_coder.reserved") }
    switch AppCoderBridge.make(copy) {
    case .success(let coder): return coder
    case .failure(let flaw):
        missing?.pointee = staticText(flaw.member)
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT, Place("sdd_coder").field(flaw.member), "it is NULL, or cannot be")
    }
}
