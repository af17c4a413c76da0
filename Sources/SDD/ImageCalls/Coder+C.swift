public import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

@_cdecl("sdd_process_add_coder") @implementation
public func sdd_process_add_coder(
    _ given: UnsafePointer<sdd_coder>?
) -> sdd_status {
    status { () throws(Refusal) in
        let coder = try madeCoder(given)
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
    _ downloader: OpaquePointer?, _ given: UnsafePointer<sdd_coder>?
) -> sdd_status {
    status { () throws(Refusal) in
        let coder = try madeCoder(given)
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
public func sdd_process_load_coder_wait(_ path: UnsafePointer<CChar>?) -> sdd_status {
    status { () throws(Refusal) in
        let coder = try refusing(\.refusal) { () throws(LoadingFlaw) in try loadedCoder(path) }
        prepareForForks()
        coder.own()
        AppCoderList.process.add(coder)
    }
}

/// Makes a coder, which does not own the application's data yet, since the call may still fail.
private func madeCoder(_ given: UnsafePointer<sdd_coder>?) throws(Refusal) -> AppCoderBridge {
    let copy = try read(given, "coder")
    return try refusing({ Refusal($0, in: "sdd_coder") }) { () throws(VtableFlaw) in try AppCoderBridge(copy) }
}
