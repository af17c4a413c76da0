internal import CCurl

/// The C functions that libcurl calls: each finds its transfer and asks it.
/// thread: sdd-net
enum CurlCallback {
    // Safety, for all of them: libcurl calls them only inside calls that the loop makes, with the address that
    // `connect` gave it, and with memory that is good until they return.

    /// - Parameter transfer: the address of a `CurlTransfer` that lives as long as the handle.
    static func connect(_ easy: EasyHandle, to transfer: UnsafeRawPointer) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_WRITEDATA, pointer: transfer)
        try easy.set(CURLOPT_WRITEFUNCTION, callback: body)
        try easy.set(CURLOPT_HEADERDATA, pointer: transfer)
        try easy.set(CURLOPT_HEADERFUNCTION, callback: header)
        try easy.set(CURLOPT_DEBUGDATA, pointer: transfer)
        try easy.set(CURLOPT_DEBUGFUNCTION, callback: debug)
        try easy.set(CURLOPT_OPENSOCKETDATA, pointer: transfer)
        try easy.set(CURLOPT_OPENSOCKETFUNCTION, callback: openSocket)
        try easy.set(CURLOPT_PREREQDATA, pointer: transfer)
        try easy.set(CURLOPT_PREREQFUNCTION, callback: connected)
    }

    private static let body: curl_write_callback = { bytes, size, count, context in
        let (total, overflow) = size.multipliedReportingOverflow(by: count)
        guard let bytes, let context, !overflow, total > 0 else { return 0 }
        return owner(context).received(bytes, count: total)
    }

    /// A line of a header, of each response on the way to the final one.
    private static let header: curl_write_callback = { bytes, size, count, context in
        let (total, overflow) = size.multipliedReportingOverflow(by: count)
        guard let context, !overflow else { return 0 }
        return owner(context).receivedHeader(UnsafeRawBufferPointer(start: bytes, count: total)) ? total : 0
    }

    /// Only of use once a transfer has asked for it: then each byte of the body comes here first, as it was sent.
    private static let debug: curl_debug_callback = { _, kind, bytes, count, context in
        guard kind == CURLINFO_DATA_IN, let context else { return 0 }
        owner(context).receivedRaw(UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    }

    private static let openSocket: curl_opensocket_callback = { context, _, address in
        guard let context, let address else { return -1 }
        return owner(context).openSocket(address)
    }

    /// After name lookup, connect and TLS, each time a request is about to be sent.
    private static let connected: curl_prereq_callback = { context, _, _, _, _ in
        if let context { owner(context).connected() }
        return CURL_PREREQFUNC_OK
    }

    private static func owner(_ context: UnsafeMutableRawPointer) -> CurlTransfer {
        Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    }
}
