internal import CCurl

/// The C functions that libcurl calls. Each forwards the call to the object that it was registered with.
/// thread: sdd-net
enum CurlCallback {
    // Safety, for all of them: libcurl calls them only during calls that the loop makes, with the address that
    // `connect` gave it, and with memory that stays valid until they return.

    /// - Parameters:
    ///   - transfer: The address of a `CurlTransfer` that lives as long as the handle is used for it.
    ///   - sockets: Must live as long as the multi handle.
    static func connect(
        _ easy: EasyHandle, to transfer: UnsafeRawPointer, sockets: OpenSockets
    ) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_WRITEFUNCTION, callback: body)
        try easy.set(CURLOPT_HEADERFUNCTION, callback: header)
        try easy.set(CURLOPT_OPENSOCKETFUNCTION, callback: openSocket)
        // This callback does not get the transfer, because the connection may outlive it.
        try easy.set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(sockets).toOpaque())
        try easy.set(CURLOPT_CLOSESOCKETFUNCTION, callback: closeSocket)
        try easy.set(CURLOPT_PREREQFUNCTION, callback: connected)
        try reconnect(easy, to: transfer)
    }

    /// Passes the calls of a handle that `connect` was called for to another transfer.
    static func reconnect(_ easy: EasyHandle, to transfer: UnsafeRawPointer) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_PRIVATE, pointer: transfer)
        try easy.set(CURLOPT_WRITEDATA, pointer: transfer)
        try easy.set(CURLOPT_HEADERDATA, pointer: transfer)
        try easy.set(CURLOPT_OPENSOCKETDATA, pointer: transfer)
        try easy.set(CURLOPT_PREREQDATA, pointer: transfer)
    }

    /// Makes libcurl report each byte of the body before decompression, the head of each request as it is sent, and its
    /// verbose log. libcurl reports them in no other way. It is not enabled for all transfers, because most do not need
    /// it.
    static func tap(_ easy: EasyHandle) throws(EasyHandle.Refusal) {
        try easy.set(CURLOPT_DEBUGDATA, pointer: EasyHandle.context(of: easy.raw))
        try easy.set(CURLOPT_DEBUGFUNCTION, callback: debug)
        try easy.set(CURLOPT_VERBOSE, true)
    }

    private static let body: curl_write_callback = { bytes, size, count, context in
        let (total, overflow) = size.multipliedReportingOverflow(by: count)
        guard let bytes, let context, !overflow, total > 0 else { return 0 }
        return with(context) { $0.received(bytes, count: total) }
    }

    /// Receives header lines of every response on the way to the final one.
    private static let header: curl_write_callback = { bytes, size, count, context in
        let (total, overflow) = size.multipliedReportingOverflow(by: count)
        guard let context, !overflow else { return 0 }
        let text = UnsafeRawBufferPointer(start: bytes, count: total)
        return with(context) { $0.receivedHeader(text) } ? total : 0
    }

    /// Receives the output that `tap` enables.
    private static let debug: curl_debug_callback = { _, kind, bytes, count, context in
        guard let context else { return 0 }
        let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
        switch kind {
        case CURLINFO_DATA_IN: with(context) { $0.receivedRaw(bytes) }
        case CURLINFO_HEADER_OUT: with(context) { $0.sentHead(bytes) }
        case CURLINFO_TEXT: with(context) { $0.heard(bytes) }
        default: break
        }
        return 0
    }

    private static let openSocket: curl_opensocket_callback = { context, _, address in
        guard let context, let address else { return -1 }
        return with(context) { $0.openSocket(address) }
    }

    private static let closeSocket: curl_closesocket_callback = { context, descriptor in
        guard let context else { return -1 }
        return Unmanaged<OpenSockets>.fromOpaque(context).takeUnretainedValue().close(descriptor)
    }

    /// Called after name lookup, connect and TLS, each time a request is about to be sent.
    private static let connected: curl_prereq_callback = { context, _, _, _, localPort in
        guard let context else { return CURL_PREREQFUNC_ABORT }
        return with(context) { $0.mayBeSent(localPort: localPort) } ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// Calls a transfer without counting a reference to it: the loop keeps it while libcurl may call.
    private static func with<Result>(
        _ context: UnsafeMutableRawPointer, _ body: (CurlTransfer) -> Result
    ) -> Result {
        Unmanaged<CurlTransfer>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }
}
