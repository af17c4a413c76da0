internal import CCurl

/// The C functions that libcurl calls: each finds its transfer and asks it.
/// thread: sdd-net
enum CurlCallback {
    // Safety, for all of them: libcurl calls them only inside calls that the loop makes, with the address that
    // `CurlTransfer.connectCallbacks` gave it, and with memory that is good until they return.

    static let body: curl_write_callback = { bytes, size, count, context in
        let (total, overflow) = size.multipliedReportingOverflow(by: count)
        guard let bytes, let context, !overflow, total > 0 else { return 0 }
        return transfer(context).received(bytes, count: total) ? total : 0
    }

    /// A line of a header, of each response on the way to the final one.
    static let header: curl_write_callback = { bytes, size, count, context in
        let (total, overflow) = size.multipliedReportingOverflow(by: count)
        guard let context, !overflow else { return 0 }
        transfer(context).receivedHeader(UnsafeRawBufferPointer(start: bytes, count: total))
        return total
    }

    /// Only of use once a transfer has asked for it: then each byte of the body comes here first, as it was sent.
    static let debug: curl_debug_callback = { _, kind, bytes, count, context in
        guard kind == CURLINFO_DATA_IN, let context else { return 0 }
        transfer(context).receivedRaw(UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    }

    static let openSocket: curl_opensocket_callback = { context, _, address in
        guard let context, let address else { return -1 }
        return transfer(context).openSocket(address.pointee)
    }

    private static func transfer(_ context: UnsafeMutableRawPointer) -> CurlTransfer {
        Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    }
}
