internal import CSDD
internal import SDDBase
internal import SDDTransport

/// A transport of the host's, as a C vtable. Immutable. Thread: its functions are called on sdd-net.
final class HostTransport: PluginTransport, @unchecked Sendable {
    // Safety: constants; the host promises functions that may be called on sdd-net.
    private let table: sdd_transport
    private let downloader: OpaquePointer
    private let data: HostData
    private let fieldTexts = Monitor<FieldTexts?>(nil)
    let scheme: String

    /// What is wrong with a vtable.
    struct Flaw: Error {
        let member: StaticString
    }

    static func make(_ table: sdd_transport, downloader: OpaquePointer) -> Result<HostTransport, Flaw> {
        guard let scheme = scheme(table.scheme) else { return .failure(Flaw(member: "scheme")) }
        if table.start == nil { return .failure(Flaw(member: "start")) }
        if table.cancel == nil { return .failure(Flaw(member: "cancel")) }
        return .success(HostTransport(table, scheme: scheme, downloader: downloader))
    }

    private init(_ table: sdd_transport, scheme: String, downloader: OpaquePointer) {
        self.table = table
        self.scheme = scheme
        self.downloader = downloader
        data = HostData(table.user_data, free: table.user_data_free)
    }

    /// The call that gave it has succeeded.
    func own() { data.own() }

    /// RFC 3986 §3.1, in lower case.
    private static func scheme(_ given: UnsafePointer<CChar>?) -> String? {
        guard let scheme = headerName(given)?.lowercased(), scheme.utf8.count <= 64,
            let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
            scheme.utf8.dropFirst().allSatisfy(isSchemeByte)
        else { return nil }
        return scheme
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
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
                table.start?(downloader, id.number, &lent, data.pointer)
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

    func cancel(_ id: TransferID) { table.cancel?(downloader, id.number, data.pointer) }

    func setPriority(_ id: TransferID, to priority: Priority) {
        table.set_priority?(downloader, id.number, priority.rawValue, data.pointer)
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
