public import CSDD
internal import SDDBase
internal import SDDEngine

// Creating, destroying and inspecting downloaders. `Rules+C` changes their settings.

@_cdecl("sdd_downloader_create") @implementation
public func sdd_downloader_create(
    _ config: UnsafePointer<sdd_downloader_config>?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        out.pointee = nil
        let copy = try readOrZeros(config, "config")
        prepareForForks()
        let client = try makeClient(copy)
        endNetworksAtExit()
        out.pointee = Handle.clients.add(client)
    }
}

@_cdecl("sdd_downloader_destroy") @implementation
public func sdd_downloader_destroy(_ downloader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Handle.clients.remove(downloader, "downloader").downloader.destroy() }
}

@_cdecl("sdd_downloader_close") @implementation
public func sdd_downloader_close(_ downloader: OpaquePointer?, _ mode: Int32) -> sdd_status {
    status { () throws(Refusal) in
        guard mode == Int32(SDD_CLOSE_CANCEL) || mode == Int32(SDD_CLOSE_DRAIN) else {
            throw .number("mode", mode, allowed: "one of SDD_CLOSE_")
        }
        try Downloaders.own(downloader).downloader.close(cancels: mode == Int32(SDD_CLOSE_CANCEL))
    }
}

@_cdecl("sdd_downloader_shared") @implementation
public func sdd_downloader_shared() -> OpaquePointer? {
    answer(orElse: nil) { () throws(Refusal) in try Downloaders.shared().handle }
}

@_cdecl("sdd_downloader_get_config") @implementation
public func sdd_downloader_get_config(
    _ downloader: OpaquePointer?, _ config: UnsafeMutablePointer<sdd_downloader_config>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard config != nil else { throw .null("config") }
        try fill(config, "config", with: Downloaders.client(downloader).currentConfig)
    }
}

@_cdecl("sdd_downloader_get_statistics") @implementation
public func sdd_downloader_get_statistics(
    _ downloader: OpaquePointer?, _ statistics: UnsafeMutablePointer<sdd_statistics>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard statistics != nil else { throw .null("statistics") }
        try fill(statistics, "statistics", with: sdd_statistics(Downloaders.downloader(downloader).statistics))
    }
}

extension sdd_statistics {
    fileprivate init(_ statistics: Statistics) {
        self.init()
        requests = statistics.requests
        requests_joined = statistics.joined
        requests_succeeded = statistics.succeeded
        requests_failed = statistics.failed
        requests_cancelled = statistics.cancelled
        transfers_started = statistics.transfersStarted
        transfers_succeeded = statistics.transfersSucceeded
        connections_opened = statistics.connectionsOpened
        request_bytes = statistics.requestBytes
        response_header_bytes = statistics.headerBytes
        response_body_bytes = statistics.wireBodyBytes
        body_bytes = statistics.bodyBytes
        images_decoded = statistics.imagesDecoded
        decode_us = statistics.decodeMicroseconds
        waiting = statistics.waiting
        running = statistics.running
        decoding = statistics.decoding
        receiving_bytes = statistics.receivingBytes
        waiting_bytes = statistics.waitingBytes
        undelivered_bytes = statistics.undeliveredBytes
        decode_memory_bytes = statistics.decodeMemoryBytes
    }
}
