public import CSDD
internal import SDDBase
internal import SDDEngine

@_cdecl("sdd_draft_url") @implementation
public func sdd_draft_url(_ draft: OpaquePointer?) -> UnsafePointer<CChar>? {
    given(Handle.draft(draft), "draft").flatMap { $0.lend($0.draft.url.text) }
}

@_cdecl("sdd_draft_method") @implementation
public func sdd_draft_method(_ draft: OpaquePointer?) -> UnsafePointer<CChar>? {
    given(Handle.draft(draft), "draft").flatMap { $0.lend($0.draft.method) }
}

@_cdecl("sdd_draft_header") @implementation
public func sdd_draft_header(_ draft: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> UnsafePointer<CChar>? {
    answer(orElse: nil) { () throws(Refusal) in
        let draft = try existing(draft)
        guard let field = headerName(name) else { throw noToken(name, "name") }
        return draft.draft.headers[field].flatMap { draft.lend($0) }
    }
}

@_cdecl("sdd_draft_set_url") @implementation
public func sdd_draft_set_url(_ draft: OpaquePointer?, _ url: UnsafePointer<CChar>?) -> sdd_status {
    status { () throws(Refusal) in
        let draft = try existing(draft)
        do throws(DownloadError) { try draft.setURL(url) } catch { throw Refusal(error) }
    }
}

@_cdecl("sdd_draft_set_method") @implementation
public func sdd_draft_set_method(_ draft: OpaquePointer?, _ method: UnsafePointer<CChar>?) -> sdd_status {
    status { () throws(Refusal) in
        guard let token = headerName(method) else { throw noToken(method, "method") }
        try existing(draft).draft.method = token
    }
}

@_cdecl("sdd_draft_set_header") @implementation
public func sdd_draft_set_header(
    _ draft: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> sdd_status {
    status { () throws(Refusal) in
        let (name, text) = try headerField(name, value, "name", "value")
        try existing(draft).draft.headers.set(name, to: text)
    }
}

@_cdecl("sdd_draft_set_body") @implementation
public func sdd_draft_set_body(_ draft: OpaquePointer?, _ data: UnsafeRawPointer?, _ size: Int) -> sdd_status {
    status { () throws(Refusal) in
        let draft = try existing(draft)
        guard size != 0 else {
            draft.draft.body = nil
            return
        }
        try checkBytes(data, size, "data")
        guard draft.draft.mayHaveBody, let data else {
            throw Refusal(
                SDD_ERROR_INVALID_ARGUMENT, "size", "the method \(draft.draft.method) has no body: it must be 0")
        }
        guard let copy = Bytes(copying: UnsafeRawBufferPointer(start: data, count: size)) else {
            throw .noMemory("data")
        }
        draft.draft.body = copy
    }
}

private func existing(_ handle: OpaquePointer?) throws(Refusal) -> LentDraft {
    guard let draft = Handle.draft(handle) else { throw .null("draft") }
    return draft
}
