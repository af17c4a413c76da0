internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

/// The application's callbacks that change requests and responses, for one request or for a downloader. Immutable.
struct AppModifiers: RequestModifiers, @unchecked Sendable {
    // Safety: the application's functions may be called on any thread, and only they dereference the data.
    private let request: sdd_request_modifier_fn?
    private let response: sdd_response_modifier_fn?
    private let body: sdd_body_transform_fn?
    let data: AppData
    /// The work on response bodies. Made once, so that all requests with these modifiers share it.
    let bodyWork: BodyWork?

    /// Reads an sdd_modifiers.
    /// - Returns: nil for NULL.
    static func make(_ source: UnsafePointer<sdd_modifiers>?, _ place: Place) throws(Refusal) -> AppModifiers? {
        guard let source else { return nil }
        let given = try read(source, place)
        return AppModifiers(
            request: given.request_modifier, response: given.response_modifier, body: given.body_transform,
            data: AppData(given.user_data, free: given.user_data_free))
    }

    private init(
        request: sdd_request_modifier_fn?, response: sdd_response_modifier_fn?, body: sdd_body_transform_fn?,
        data: AppData
    ) {
        self.request = request
        self.response = response
        self.body = body
        self.data = data
        bodyWork = Self.work(response: response.map { ($0, data) }, body: body.map { ($0, data) })
    }

    var changesRequests: Bool { request != nil }

    func change(_ draft: inout RequestDraft, _ defaults: RequestDefaults) -> Bool {
        guard let request else { return true }
        let lent = LentDraft(draft, defaults)
        let answer = withExtendedLifetime(data) { request(Handle.borrowed(lent), data.pointer) }
        draft = lent.draft
        return answer == sdd_status(SDD_OK)
    }

    func bodyWork(over standard: (any RequestModifiers)?) -> BodyWork? {
        guard let standard = standard as? AppModifiers, standard.bodyWork != nil else { return bodyWork }
        let response = response.map { ($0, data) } ?? standard.response.map { ($0, standard.data) }
        let body = body.map { ($0, data) } ?? standard.body.map { ($0, standard.data) }
        return Self.work(response: response, body: body)
    }

    private static func work(
        response: (sdd_response_modifier_fn, AppData)?, body: (sdd_body_transform_fn, AppData)?
    ) -> BodyWork? {
        if response == nil && body == nil { return nil }
        var modifier: BodyWork.Modifier?
        if let (function, data) = response { modifier = { modified($0, by: function, data) } }
        var transform: BodyWork.Transform?
        if let (function, data) = body { transform = { transformed($0, $1, by: function, data) } }
        let identity = [
            address(response?.0), address(response?.1.pointer), address(body?.0), address(body?.1.pointer),
        ]
        return BodyWork(modifier: modifier, transform: transform, identity: identity)
    }

    /// Returns a pointer's address; 0 for none. Addresses are compared, never dereferenced.
    private static func address<Pointer>(_ pointer: Pointer?) -> UInt {
        guard let pointer else { return 0 }
        // Safety: a C function pointer and a raw pointer are both one word.
        return unsafeBitCast(pointer, to: UInt.self)
    }
}

/// Calls the response modifier. Thread: sdd-decode-N.
private func modified(
    _ response: Response, by function: sdd_response_modifier_fn, _ data: AppData
) -> BodyWork.Change? {
    var change = sdd_response_change()
    change.struct_size = MemoryLayout<sdd_response_change>.size
    change.http_status = response.status
    change.mime_type = response.fields.mimeTypeText ?? emptyString
    return withExtendedLifetime((response, data)) {
        guard function(Handle.borrowed(response), &change, data.pointer) == sdd_status(SDD_OK) else { return nil }
        let type = headerValue(change.mime_type) ?? ""
        if change.header_count == 0 { return BodyWork.Change(change.http_status, type) }
        guard let fields = changed(response.fields, by: change) else { return nil }
        // A MIME type that the modifier has set takes precedence over one in its header fields.
        let isUnsaid = type == response.fields.mimeType
        return BodyWork.Change(change.http_status, isUnsaid ? fields.mimeType : type, fields: fields)
    }
}

/// Applies a modifier's header changes to the response fields.
/// - Returns: nil if a field is invalid, or without memory.
private func changed(_ fields: ResponseFields, by change: sdd_response_change) -> ResponseFields? {
    guard let headers = change.headers, (1...1000).contains(change.header_count) else { return nil }
    // Safety: the library's header requires `header_count` elements.
    let given = UnsafeBufferPointer(start: headers, count: change.header_count)
    var builder = ResponseFieldsBuilder()
    let isKept = withExtendedLifetime(fields) {
        fields.all.allSatisfy { name, value in
            given.contains { $0.name.map { strcasecmp($0, name) == 0 } ?? false } || builder.append(name, value)
        }
    }
    guard isKept else { return nil }
    for header in given {
        guard headerName(header.name) != nil, let name = header.name else { return nil }
        guard let value = header.value else { continue }
        guard headerValue(value) != nil, builder.append(name, value) else { return nil }
    }
    return builder.take()
}

/// Calls the body transform. Thread: sdd-decode-N.
private func transformed(
    _ bytes: Bytes, _ response: Response, by function: sdd_body_transform_fn, _ data: AppData
) -> Bytes? {
    withExtendedLifetime((bytes, response, data)) {
        Handle.takenOver(function(Handle.borrowed(bytes), Handle.borrowed(response), data.pointer))
    }
}
