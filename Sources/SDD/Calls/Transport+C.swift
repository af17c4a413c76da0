public import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

@_cdecl("sdd_downloader_add_transport") @implementation
public func sdd_downloader_add_transport(
    _ downloader: OpaquePointer?, _ given: UnsafePointer<sdd_transport>?
) -> sdd_status {
    status { () throws(Refusal) in
        let copy = try read(given, "transport")
        let client = try Downloaders.client(downloader)
        let transport = try refusing({ Refusal($0, in: "sdd_transport") }) { () throws(VtableFlaw) in
            try AppTransportBridge(copy, seat: client.downloader.seat)
        }
        // Take ownership before another thread can remove the transport.
        transport.own()
        client.setDefault { $0.add(transport, scheme: transport.scheme) }
    }
}

@_cdecl("sdd_downloader_remove_transport") @implementation
public func sdd_downloader_remove_transport(
    _ downloader: OpaquePointer?, _ scheme: UnsafePointer<CChar>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard scheme != nil else { throw .null("scheme") }
        let client = try Downloaders.client(downloader)
        var isRemoved = false
        if let known = AppTransportBridge.scheme(scheme) {
            client.setDefault { isRemoved = $0.removeAppTransport(of: known) }
        }
        guard isRemoved else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "scheme", "the downloader has no transport of \(shown(scheme))")
        }
    }
}

@_cdecl("sdd_transfer_respond") @implementation
public func sdd_transfer_respond(
    _ transfer: sdd_transfer, _ status: Int32, _ headers: UnsafePointer<sdd_header>?,
    _ count: Int, _ expected: Int64
) -> sdd_status {
    SDD.status { () throws(Refusal) in
        guard status == 0 || (100...999).contains(status) else {
            throw .number("http_status", status, allowed: "0 or 100 to 999")
        }
        guard expected >= -1 else { throw .number("expected_bytes", expected, allowed: "at least -1") }
        let fields = try responseFields(headers, count: count)
        var isTaken = true
        try answer(transfer) { downloader, id throws(AppTransfers.Refusal) in
            isTaken = try downloader.appResponded(id, status: status, fields: fields, expectedBytes: expected)
        }
        guard isTaken else {
            throw Refusal(SDD_ERROR_PROTOCOL, "http_status", "206 is a part of the body, and none was asked for")
        }
    }
}

@_cdecl("sdd_transfer_write") @implementation
public func sdd_transfer_write(
    _ transfer: sdd_transfer, _ data: UnsafeRawPointer?, _ size: Int
) -> sdd_status {
    status { () throws(Refusal) in
        try checkBytes(data, size, "data")
        var error: TransportError?
        try answer(transfer) { downloader, id throws(AppTransfers.Refusal) in
            error = try downloader.appReceived(id, UnsafeRawBufferPointer(start: data, count: size))
        }
        switch error?.kind {
        case nil: break
        case .sinkNotWritable: throw Refusal(SDD_ERROR_SINK, "data", "the request's sink cannot be written")
        case .noResources: throw .noMemory("data")
        default:
            throw Refusal(
                SDD_ERROR_BODY_TOO_LARGE, "size", "the body is over max_body_bytes or expected_bytes with these \(size)"
            )
        }
    }
}

@_cdecl("sdd_transfer_finish") @implementation
public func sdd_transfer_finish(
    _ transfer: sdd_transfer, _ error: sdd_status, _ message: UnsafePointer<CChar>?
) -> sdd_status {
    status { () throws(Refusal) in
        let failure = error == sdd_status(SDD_OK) ? nil : transportError(error, headerValue(message))
        try answer(transfer) { downloader, id throws(AppTransfers.Refusal) in
            try downloader.appFinished(id, failure)
        }
    }
}

/// Calls `tell` with the downloader of a transfer.
private func answer(
    _ transfer: sdd_transfer, _ tell: (Downloader, UInt64) throws(AppTransfers.Refusal) -> Void
) throws(Refusal) {
    var refusal: AppTransfers.Refusal? = .unknown
    _ = TokenOwners.ask(of: transfer) { owner -> ()? in
        guard let downloader = owner as? Downloader else { return nil }
        do throws(AppTransfers.Refusal) {
            try tell(downloader, TokenOwners.inside(transfer))
            refusal = nil
        } catch {
            refusal = error
        }
        return refusal == .unknown ? nil : ()
    }
    switch refusal {
    case nil: break
    case .unknown: throw .unknown(transfer, "transfer")
    case .outOfOrder:
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "transfer", "\(transfer) has a response already, or data before it")
    }
}

private func responseFields(_ headers: UnsafePointer<sdd_header>?, count: Int) throws(Refusal) -> ResponseFields {
    guard count != 0 else { return ResponseFields() }
    guard let headers else { throw .null("headers") }
    guard (1...1000).contains(count) else {
        throw .number("header_count", UInt(bitPattern: count), allowed: "0 to 1000")
    }
    var builder = ResponseFieldsBuilder()
    // Safety: the library's header requires `header_count` elements.
    for (index, header) in UnsafeBufferPointer(start: headers, count: count).enumerated() {
        let place = Place("headers")[index]
        guard var name = headerName(header.name) else { throw noToken(header.name, place.field("name")) }
        if header.value == nil { throw .null(place.field("value")) }
        guard var value = headerValue(header.value) else { throw noFieldValue(place.field("value")) }
        let isAdded = name.withUTF8 { name in
            value.withUTF8 { builder.append(name: UnsafeRawBufferPointer(name), value: UnsafeRawBufferPointer($0)) }
        }
        guard isAdded else { throw .noMemory("headers") }
    }
    return builder.take()
}

/// Converts the status with which an application's transport ended a transfer, one of the 3000s.
private func transportError(_ status: sdd_status, _ message: String?) -> TransportError {
    let kind: TransportError.Kind =
        switch Int(status) {
        case SDD_ERROR_RESOLVE: .resolve
        case SDD_ERROR_CONNECT: .connect
        case SDD_ERROR_TLS: .tlsHandshake
        case SDD_ERROR_TIMEOUT: .stall
        case SDD_ERROR_CONNECTION_LOST: .connectionLost
        case SDD_ERROR_TOO_MANY_REDIRECTS: .tooManyRedirects
        case SDD_ERROR_PROTOCOL: .notHTTP
        case SDD_ERROR_BODY_TOO_LARGE: .bodyTooLarge
        case SDD_ERROR_TRUNCATED_BODY: .truncatedBody
        case SDD_ERROR_REDIRECT_REFUSED: .redirectScheme
        case SDD_ERROR_CONTENT_ENCODING: .contentEncoding
        case SDD_ERROR_FILE_NOT_READABLE: .fileNotReadable
        case SDD_ERROR_ADDRESS_REFUSED: .addressRefused
        case SDD_ERROR_HEADERS_TOO_LARGE: .headersTooLarge
        case SDD_ERROR_PROXY: .proxy
        case SDD_ERROR_SINK: .sinkNotWritable
        default: .other
        }
    let sentence = message ?? "\(StatusText(status).message)"
    return TransportError(kind, message: sentence.isEmpty ? "The transport failed." : sentence)
}
