public import CSDD
internal import SDDBase
internal import SDDEngine

@_cdecl("sdd_draft_url") @implementation
public func sdd_draft_url(_ draft: OpaquePointer?) -> UnsafePointer<CChar>? {
    Handle.draft(draft).flatMap { $0.lend($0.url.text) }
}

@_cdecl("sdd_draft_method") @implementation
public func sdd_draft_method(_ draft: OpaquePointer?) -> UnsafePointer<CChar>? {
    Handle.draft(draft).flatMap { $0.lend($0.method) }
}

@_cdecl("sdd_draft_header") @implementation
public func sdd_draft_header(_ draft: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> UnsafePointer<CChar>? {
    guard let draft = Handle.draft(draft), let name = headerName(name), let value = draft.headers[name] else {
        return nil
    }
    return draft.lend(value)
}

@_cdecl("sdd_draft_set_url") @implementation
public func sdd_draft_set_url(_ draft: OpaquePointer?, _ url: UnsafePointer<CChar>?) -> sdd_status {
    status { () throws(Refusal) in
        let draft = try existing(draft)
        do throws(DownloadError) { try draft.setURL(url) } catch { throw Refusal(SDD_ERROR_INVALID_URL) }
    }
}

@_cdecl("sdd_draft_set_method") @implementation
public func sdd_draft_set_method(_ draft: OpaquePointer?, _ method: UnsafePointer<CChar>?) -> sdd_status {
    status { () throws(Refusal) in
        guard let method = headerName(method) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        try existing(draft).setMethod(method)
    }
}

@_cdecl("sdd_draft_set_header") @implementation
public func sdd_draft_set_header(
    _ draft: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> sdd_status {
    status { () throws(Refusal) in
        let (name, text) = try headerField(name, value)
        try existing(draft).headers.set(name, to: text)
    }
}

@_cdecl("sdd_draft_set_body") @implementation
public func sdd_draft_set_body(_ draft: OpaquePointer?, _ data: UnsafeRawPointer?, _ size: Int) -> sdd_status {
    status { () throws(Refusal) in
        let draft = try existing(draft)
        guard size != 0 else { return draft.setBody(nil) }
        guard let data, size > 0, draft.mayHaveBody else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        guard let copy = Bytes(copying: UnsafeRawBufferPointer(start: data, count: size)) else {
            throw Refusal(SDD_ERROR_NO_RESOURCES)
        }
        draft.setBody(copy)
    }
}

private func existing(_ handle: OpaquePointer?) throws(Refusal) -> RequestDraft {
    guard let draft = Handle.draft(handle) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return draft
}

/// A field to be set, or, with value NULL, to be removed.
func headerField(
    _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) throws(Refusal) -> (name: String, value: String?) {
    guard let name = headerName(name) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    guard let value else { return (name, nil) }
    guard let text = headerValue(value) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return (name, text)
}
