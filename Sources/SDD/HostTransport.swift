internal import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

/// A transport of the host's, as a C vtable. Immutable. Thread: its functions are called on sdd-net, but for can_load.
final class HostTransport: PluginTransport, @unchecked Sendable {
    // Safety: constants; the host promises functions that may be called on those threads.
    private let table: sdd_transport
    /// That of its downloader: by it a transfer is known in the whole process.
    private let seat: TokenSeat
    private let data: HostData
    private let fieldTexts = Monitor<FieldTexts?>(nil)
    let scheme: String

    /// What is wrong with a vtable.
    struct Flaw: Error {
        let member: StaticString
    }

    static func make(_ table: sdd_transport, seat: TokenSeat) -> Result<HostTransport, Flaw> {
        guard let scheme = scheme(table.scheme) else { return .failure(Flaw(member: "scheme")) }
        // It would take all there is, and nobody means that.
        if scheme == anyScheme, table.can_load == nil { return .failure(Flaw(member: "can_load")) }
        if table.start == nil { return .failure(Flaw(member: "start")) }
        if table.cancel == nil { return .failure(Flaw(member: "cancel")) }
        return .success(HostTransport(table, scheme: scheme, seat: seat))
    }

    private init(_ table: sdd_transport, scheme: String, seat: TokenSeat) {
        self.table = table
        self.scheme = scheme
        self.seat = seat
        data = HostData(table.user_data, free: table.user_data_free)
    }

    /// The call that gave it has succeeded.
    func own() { data.own() }

    static let anyScheme = "*"

    /// In lower case.
    static func scheme(_ given: UnsafePointer<CChar>?) -> String? {
        guard let scheme = headerName(given)?.lowercased(), scheme.utf8.count <= 64,
            scheme == anyScheme || ImageURL.isScheme(scheme)
        else { return nil }
        return scheme
    }

    func takes(_ url: ImageURL) -> Bool {
        guard let canLoad = table.can_load else { return true }
        return url.text.withCString { canLoad($0, data.pointer) } == 1
    }

    func start(_ id: TransferID, _ request: HTTPRequest, priority: Priority) {
        // Lent for the call, but for the body, which lives as long as the transfer.
        let fields = texts(of: request.headers)
        let url = CText(request.url.text)
        withExtendedLifetime((fields, url)) {
            request.method.withCString { method in
                guard let urlText = url.pointer else { return }
                var lent = sdd_transfer_request()
                lent.struct_size = MemoryLayout<sdd_transfer_request>.size
                lent.url = urlText
                lent.method = method
                lent.headers = fields.headers.baseAddress
                lent.header_count = fields.headers.count
                lent.body = request.body?.pointer.baseAddress
                lent.body_size = request.body?.count ?? 0
                lent.priority = priority.rawValue
                table.start?(seat.outside(id.number), &lent, data.pointer)
            }
        }
    }

    /// Those of the request before, if they are the same: mostly they are the downloader's own.
    private func texts(of fields: HTTPFields) -> FieldTexts {
        fieldTexts.withLock { last in
            if let last, last.fields == fields { return last }
            let texts = FieldTexts(fields)
            last = texts
            return texts
        }
    }

    func cancel(_ id: TransferID) { table.cancel?(seat.outside(id.number), data.pointer) }

    func setPriority(_ id: TransferID, to priority: Priority) {
        table.set_priority?(seat.outside(id.number), priority.rawValue, data.pointer)
    }
}

/// Header fields in C's form. Immutable.
private final class FieldTexts: @unchecked Sendable {
    // Safety: written to in `init` only; the texts live as long as what points to them.
    let fields: HTTPFields
    let headers: UnsafeBufferPointer<sdd_header>
    private let texts: [CText]

    init(_ fields: HTTPFields) {
        self.fields = fields
        let texts = fields.fields.flatMap { [CText($0.name), CText($0.value)] }
        let headers = UnsafeMutableBufferPointer<sdd_header>.allocate(capacity: fields.fields.count)
        for index in headers.indices {
            headers.initializeElement(
                at: index, to: sdd_header(name: texts[2 * index].pointer, value: texts[2 * index + 1].pointer))
        }
        self.texts = texts
        self.headers = UnsafeBufferPointer(headers)
    }

    deinit { headers.deallocate() }
}
