public import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

// Changing the settings of a live downloader; statistics and settings of the process.

@_cdecl("sdd_set_header") @implementation
public func sdd_set_header(
    _ downloader: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> sdd_status {
    status { () throws(Refusal) in
        let (name, text) = try headerField(name, value, "name", "value")
        try Downloaders.client(downloader).setDefault { $0.setHeader(name, to: text) }
    }
}

@_cdecl("sdd_get_header") @implementation
public func sdd_get_header(
    _ downloader: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ buffer: UnsafeMutablePointer<CChar>?,
    _ capacity: Int, _ length: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let field = headerName(name) else { throw noToken(name, "name") }
        try checkBuffer(buffer, capacity: capacity)
        guard let value = try Downloaders.client(downloader).currentDefaults.headers[field] else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "name", "the downloader has no header field \(shown(name))")
        }
        try write(value, to: buffer, capacity: capacity, length: length)
    }
}

@_cdecl("sdd_downloader_set_max_concurrent_downloads") @implementation
public func sdd_downloader_set_max_concurrent_downloads(_ downloader: OpaquePointer?, _ count: Int32) -> sdd_status {
    status { () throws(Refusal) in
        guard count > 0 else { throw .number("count", count, allowed: "at least 1") }
        try Downloaders.downloader(downloader).setMaxConcurrentDownloads(Int(count))
    }
}

@_cdecl("sdd_downloader_set_max_concurrent_per_host") @implementation
public func sdd_downloader_set_max_concurrent_per_host(_ downloader: OpaquePointer?, _ count: Int32) -> sdd_status {
    status { () throws(Refusal) in
        guard count > 0 else { throw .number("count", count, allowed: "at least 1") }
        try Downloaders.downloader(downloader).setMaxConcurrentPerHost(Int(count))
    }
}

@_cdecl("sdd_downloader_set_min_host_interval") @implementation
public func sdd_downloader_set_min_host_interval(_ downloader: OpaquePointer?, _ milliseconds: Int64) -> sdd_status {
    status { () throws(Refusal) in
        _ = try number(milliseconds, "milliseconds", default: 0, most: longestLimit)
        try Downloaders.downloader(downloader).setMinHostInterval(milliseconds: milliseconds)
    }
}

@_cdecl("sdd_downloader_set_reserved_urgent_slots") @implementation
public func sdd_downloader_set_reserved_urgent_slots(_ downloader: OpaquePointer?, _ count: Int32) -> sdd_status {
    status { () throws(Refusal) in
        guard count >= 0 else { throw .number("count", count, allowed: "at least 0") }
        try Downloaders.downloader(downloader).setReservedUrgentSlots(Int(count))
    }
}

@_cdecl("sdd_downloader_set_execution_order") @implementation
public func sdd_downloader_set_execution_order(_ downloader: OpaquePointer?, _ given: Int32) -> sdd_status {
    status { () throws(Refusal) in
        let order = try order(given, "order")
        try Downloaders.downloader(downloader).setOrder(order)
    }
}

@_cdecl("sdd_downloader_set_download_timeout") @implementation
public func sdd_downloader_set_download_timeout(_ downloader: OpaquePointer?, _ milliseconds: Int64) -> sdd_status {
    status { () throws(Refusal) in
        let stall = try number(milliseconds, "timeout_ms", default: standardDownloadTimeout, most: longestLimit)
        try Downloaders.client(downloader).setDefault { defaults in
            var clocks = defaults.clocks
            clocks.stall = stall
            if defaults.connectFollowsStall { clocks.connect = stall }
            defaults.clocks = clocks
        }
    }
}

@_cdecl("sdd_downloader_set_credential") @implementation
public func sdd_downloader_set_credential(_ downloader: OpaquePointer?, _ given: UnsafePointer<sdd_credential>?)
    -> sdd_status
{
    status { () throws(Refusal) in
        let credential = try credential(given, "credential").credential
        try Downloaders.client(downloader).setDefault { $0.credential = credential }
    }
}

@_cdecl("sdd_downloader_set_modifiers") @implementation
public func sdd_downloader_set_modifiers(_ downloader: OpaquePointer?, _ given: UnsafePointer<sdd_modifiers>?)
    -> sdd_status
{
    status { () throws(Refusal) in
        let modifiers = try AppModifiers.make(given, "modifiers")
        try Downloaders.client(downloader).setDefault { $0.modifiers = modifiers }
        modifiers?.data.own()
    }
}

@_cdecl("sdd_downloader_set_decode_options") @implementation
public func sdd_downloader_set_decode_options(
    _ downloader: OpaquePointer?, _ options: UnsafePointer<sdd_decode_options>?
) -> sdd_status {
    status { () throws(Refusal) in
        let form = try pixelForm(options, "options") ?? DecodeOptions()
        guard !form.isCallers else { throw ownMemory("of all requests of a downloader") }
        try Downloaders.client(downloader).setDefault { $0.form = form }
    }
}

// MARK: - Suspending and backgrounding

@_cdecl("sdd_downloader_suspend") @implementation
public func sdd_downloader_suspend(_ downloader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Downloaders.downloader(downloader).setSuspended(true) }
}

@_cdecl("sdd_downloader_resume") @implementation
public func sdd_downloader_resume(_ downloader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Downloaders.downloader(downloader).setSuspended(false) }
}

@_cdecl("sdd_downloader_is_suspended") @implementation
public func sdd_downloader_is_suspended(_ downloader: OpaquePointer?) -> Int32 {
    answer(orElse: 0) { () throws(Refusal) in try Downloaders.downloader(downloader).isSuspended ? 1 : 0 }
}

@_cdecl("sdd_downloader_enter_background") @implementation
public func sdd_downloader_enter_background(_ downloader: OpaquePointer?, _ milliseconds: Int64) -> sdd_status {
    status { () throws(Refusal) in try Downloaders.downloader(downloader).enterBackground(milliseconds: milliseconds) }
}

@_cdecl("sdd_downloader_enter_foreground") @implementation
public func sdd_downloader_enter_foreground(_ downloader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Downloaders.downloader(downloader).enterForeground() }
}

@_cdecl("sdd_process_get_statistics") @implementation
public func sdd_process_get_statistics(_ statistics: UnsafeMutablePointer<sdd_process_statistics>?) -> sdd_status {
    status { () throws(Refusal) in
        var made = sdd_process_statistics()
        made.images = Living.images.count
        made.pixel_bytes = Living.pixels.heldBytes
        made.bytes_objects = Living.bytes.count
        made.bytes_bytes = Living.bytes.heldBytes
        made.prefetch_lists = Handle.loaders.live.reduce(0) { $0 + Int64($1.prefetcher.listCount) }
        try fill(statistics, "statistics", with: made)
    }
}

@_cdecl("sdd_process_set_decode_memory_limit") @implementation
public func sdd_process_set_decode_memory_limit(_ bytes: Int64) -> sdd_status {
    status { () throws(Refusal) in
        guard bytes >= 0 else { throw .number("bytes", bytes, allowed: "at least 0") }
        DecodeMemory.ofProcess.setLimit(bytes == 0 ? DecodeMemory.standardLimit : Int(bytes))
    }
}
