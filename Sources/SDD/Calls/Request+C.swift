public import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

// Inspecting, cancelling and reprioritizing requests under way.

@_cdecl("sdd_cancel") @implementation
public func sdd_cancel(_ token: sdd_token) -> sdd_status {
    status { () throws(Refusal) in
        guard TokenOwners.ask(of: token, { $0.cancel(token) }) != nil else { throw .unknown(token) }
    }
}

@_cdecl("sdd_downloader_cancel_all") @implementation
public func sdd_downloader_cancel_all(_ downloader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Downloaders.downloader(downloader).cancelAll() }
}

@_cdecl("sdd_set_priority") @implementation
public func sdd_set_priority(_ token: sdd_token, _ given: Int32) -> sdd_status {
    status { () throws(Refusal) in
        guard let priority = Priority(rawValue: given) else {
            throw .number("priority", given, allowed: "one of SDD_PRIORITY_")
        }
        let isSet: ()? = TokenOwners.ask(of: token) { $0.setPriority(priority, of: token) ? () : nil }
        guard isSet != nil else { throw .unknown(token) }
    }
}

@_cdecl("sdd_token_get_info") @implementation
public func sdd_token_get_info(_ token: sdd_token, _ info: UnsafeMutablePointer<sdd_token_info>?) -> sdd_status {
    status { () throws(Refusal) in
        guard info != nil else { throw .null("info") }
        try fill(info, "info", with: sdd_token_info(information(on: token)))
    }
}

@_cdecl("sdd_token_get_url") @implementation
public func sdd_token_get_url(
    _ token: sdd_token, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int, _ length: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        try checkBuffer(buffer, capacity: capacity)
        guard let url = try information(on: token).url else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "token", "\(token) is a list to prefetch, which has no URL of its own")
        }
        try write(url, to: buffer, capacity: capacity, length: length)
    }
}

@_cdecl("sdd_token_get_response") @implementation
public func sdd_token_get_response(
    _ token: sdd_token, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        out.pointee = nil
        guard let response = try information(on: token).response else {
            throw Refusal(SDD_ERROR_NOT_FOUND, "token", "no response has come yet for \(token)")
        }
        out.pointee = Handle.retained(response)
    }
}

private func information(on token: sdd_token) throws(Refusal) -> RequestInformation {
    guard let information = TokenOwners.ask(of: token, { $0.information(on: token) }) else {
        throw .unknown(token)
    }
    return information
}

extension sdd_token_info {
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
