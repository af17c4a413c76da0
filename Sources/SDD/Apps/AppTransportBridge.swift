internal import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

/// A transport that the application implements as a C vtable. Immutable. Thread: its functions are called on sdd-net,
/// except `can_load`.
final class AppTransportBridge: AppTransport, @unchecked Sendable {
    // Safety: constants; the application promises functions that may be called on those threads.
    private let table: sdd_transport
    /// The downloader's token seat, which makes the ids of its transfers unique in the process.
    private let seat: TokenSeat
    private let data: AppData
    private let fieldTexts = Monitor<FieldTexts?>(nil)
    let scheme: String

    init(_ table: sdd_transport, seat: TokenSeat) throws(VtableFlaw) {
        guard let scheme = Self.scheme(table.scheme) else { throw VtableFlaw(member: "scheme") }
        // Without `can_load` a transport for all schemes would take every URL, which is surely a mistake.
        if scheme == RequestDefaults.anyScheme, table.can_load == nil { throw VtableFlaw(member: "can_load") }
        if table.start == nil { throw VtableFlaw(member: "start") }
        if table.cancel == nil { throw VtableFlaw(member: "cancel") }
        self.table = table
        self.scheme = scheme
        self.seat = seat
        data = AppData(table.user_data, free: table.user_data_free)
    }

    /// Takes ownership of the application's data. Called once the C call that passed it is certain to succeed.
    func own() { data.own() }

    /// Returns a valid scheme in lower case.
    static func scheme(_ given: UnsafePointer<CChar>?) -> String? {
        guard let scheme = headerName(given)?.lowercased(), scheme.utf8.count <= 64,
            scheme == RequestDefaults.anyScheme || ImageURL.isScheme(scheme)
        else { return nil }
        return scheme
    }

    func takes(_ url: ImageURL) -> Bool {
        guard let canLoad = table.can_load else { return true }
        return url.text.withCString { canLoad($0, data.pointer) } == 1
    }

    func start(_ id: TransferID, _ request: HTTPRequest, priority: Priority) {
        // All fields are borrowed for the call, except the body, which stays valid as long as the transfer.
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

    /// Returns header fields in C form. Equal ones of the previous request are reused, since most requests send only
    /// the downloader's fields.
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

/// Header fields in C form. Immutable.
private final class FieldTexts: @unchecked Sendable {
    // Safety: written only in `init`; `texts` live as long as the pointers to them.
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
