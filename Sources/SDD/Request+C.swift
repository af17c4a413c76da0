public import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

// What may be asked and done about a request under way.

@_cdecl("sdd_cancel") @implementation
public func sdd_cancel(_ downloader: OpaquePointer?, _ token: sdd_token) -> sdd_status {
    sdd_cancel_request(downloader, token, nil)
}

@_cdecl("sdd_cancel_request") @implementation
public func sdd_cancel_request(
    _ downloader: OpaquePointer?, _ token: sdd_token, _ ended: UnsafeMutablePointer<Int32>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let hasEnded = try Handle.downloader(downloader).cancel(token) else {
            throw Refusal(SDD_ERROR_NOT_FOUND)
        }
        ended?.pointee = hasEnded ? 1 : 0
    }
}

@_cdecl("sdd_cancel_all") @implementation
public func sdd_cancel_all(_ downloader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Handle.downloader(downloader).cancelAll() }
}

@_cdecl("sdd_set_priority") @implementation
public func sdd_set_priority(_ downloader: OpaquePointer?, _ token: sdd_token, _ given: Int32) -> sdd_status {
    status { () throws(Refusal) in
        guard let priority = Priority(rawValue: given) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        guard try Handle.downloader(downloader).setPriority(priority, of: token) else {
            throw Refusal(SDD_ERROR_NOT_FOUND)
        }
    }
}

@_cdecl("sdd_get_request_info") @implementation
public func sdd_get_request_info(
    _ downloader: OpaquePointer?, _ token: sdd_token, _ info: UnsafeMutablePointer<sdd_request_info>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard info != nil else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        try fill(info, with: sdd_request_info(information(downloader, token)))
    }
}

@_cdecl("sdd_get_url") @implementation
public func sdd_get_url(
    _ downloader: OpaquePointer?, _ token: sdd_token, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard buffer != nil || capacity == 0 else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        try write(information(downloader, token).url, to: buffer, capacity: capacity, length: length)
    }
}

@_cdecl("sdd_get_response") @implementation
public func sdd_get_response(
    _ downloader: OpaquePointer?, _ token: sdd_token, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let out else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        out.pointee = nil
        guard let response = try information(downloader, token).response else { throw Refusal(SDD_ERROR_NOT_FOUND) }
        out.pointee = Handle.retained(response)
    }
}

private func information(_ downloader: OpaquePointer?, _ token: sdd_token) throws(Refusal) -> RequestInformation {
    guard let information = try Handle.downloader(downloader).information(on: token) else {
        throw Refusal(SDD_ERROR_NOT_FOUND)
    }
    return information
}

extension sdd_request_info {
    fileprivate init(_ information: RequestInformation) {
        self.init()
        state = information.state.rawValue
        priority = information.priority.rawValue
        effective_priority = information.effectivePriority.rawValue
        http_status = information.response?.status ?? 0
        received_bytes = information.receivedBytes
        expected_bytes = information.expectedBytes
        waiting_us = information.waitingMicroseconds
        running_us = information.runningMicroseconds
    }
}
