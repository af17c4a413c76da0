package import SDDBase
import SDDTransport

/// A request of which its kind says all but its URL and the caller's data, while it waits for its turn: most are of that
/// sort where many wait. It is one block of memory, and no object. Its request, its listener and its job are made when
/// its turn comes, or when anything else happens to it: see docs/decisions/0056-a-waiting-request-is-one-block.md.
///
/// It has one owner: the submitting thread, then the inbox, then the table, and at last, of its text, the callbacks that
/// are made for it.
package struct PlainRequest: Sendable {
    /// 76 bytes, in an order without gaps; the URL follows.
    private struct Header: Sendable {
        let kind: PlainKind
        let userData: UserData
        /// As of the request that is made of it.
        let hashKey: UInt64
        var token: UInt64 = 0
        var submitted: Int64 = 0
        /// Of its job.
        var id = TransferID(0)
        let outline: ImageURL.Outline
        /// The index of its transport in its kind.
        let transport: UInt16
        /// As in its `WaitingPlace`.
        var index = WaitingPlace.none
        var ageIndex = WaitingPlace.none
    }

    private let block: TextBlock<Header>

    /// - Returns: nil if the URL is to be refused or changed, or contains its own answer, or there is no memory.
    package init?(_ kind: PlainKind, url: UnsafeBufferPointer<UInt8>, userData: UserData) {
        guard let (outline, transport) = unsafe kind.takes(url),
            let block = unsafe TextBlock(
                Header(
                    kind: kind, userData: userData, hashKey: kind.hashKey(of: outline, by: transport),
                    outline: outline, transport: transport), url)
        else { return nil }
        self.block = block
    }

    package var token: UInt64 { block.header.token }
    /// The time of its submission, from which its limits count.
    var submitted: Int64 {
        get { block.header.submitted }
        nonmutating set { block.header.submitted = newValue }
    }
    var kind: PlainKind { block.header.kind }
    var hostKey: UInt64 { block.header.outline.hostKey }

    var hashKey: UInt64 { block.header.hashKey }

    /// The id that its job will have.
    var id: TransferID {
        get { block.header.id }
        nonmutating set { block.header.id = newValue }
    }

    /// Its place in the table's line.
    var place: WaitingPlace {
        get {
            WaitingPlace(
                host: hostKey, index: block.header.index, ageIndex: block.header.ageIndex,
                rank: Int8(kind.request.priority.rank))
        }
        nonmutating set { (block.header.index, block.header.ageIndex) = (newValue.index, newValue.ageIndex) }
    }

    func accepted(as token: UInt64, at time: Int64) { (block.header.token, block.header.submitted) = (token, time) }

    /// Frees a request that was not accepted.
    func free() { block.free() }

    /// The request itself, which is made now.
    var request: DownloadRequest {
        let kind = kind
        let url = unsafe block.text.withBytes { unsafe ImageURL(checked: $0, block.header.outline) }
        return kind.request.with(transfer: kind.transfers[Int(block.header.transport)].with(url: url))
    }

    /// Makes the callbacks, in place of this.
    /// - Returns: also the kind: perhaps the last reference to it, and to objects of the application.
    func takeCallbacks() -> (any AppCallbacks, PlainKind) {
        let header = block.takeHeader()
        return (header.kind.makeCallbacks(block.text, header.userData), header.kind)
    }
}

/// What plain requests have in common. Immutable, and shared by all of them.
package final class PlainKind: Sendable {
    /// Makes the callbacks of a request, which lend the text of its URL to the application, and free it.
    package typealias MakeCallbacks = @Sendable (BlockText, UserData) -> any AppCallbacks

    /// All but the transfer.
    let request: DownloadRequest
    /// The transfer by each transport, but for its URL; the first one is the library's.
    let transfers: [HTTPRequest]
    let makeCallbacks: MakeCallbacks
    private let defaults: RequestDefaults

    /// - Returns: nil if requests of the spec differ in more than their URL and the caller's data.
    package convenience init?(
        _ spec: RequestSpec, _ defaults: RequestDefaults, makeCallbacks: @escaping MakeCallbacks
    ) {
        guard let transfer = defaults.plainTransfer(spec),
            let made = try? defaults.parts(of: spec, transfer: transfer)
        else { return nil }
        self.init(DownloadRequest(made), defaults, makeCallbacks: makeCallbacks)
    }

    /// - Parameter request: with any URL; it can be shared, and neither asks a cache nor stores anything.
    init(_ request: DownloadRequest, _ defaults: RequestDefaults, makeCallbacks: @escaping MakeCallbacks) {
        self.request = request
        transfers = [request.transfer] + defaults.appTransports.map { request.transfer.by($0.appTransport) }
        self.defaults = defaults
        self.makeCallbacks = makeCallbacks
    }

    /// - Returns: nil if the URL is to be refused or changed, or contains its own answer.
    fileprivate func takes(_ url: UnsafeBufferPointer<UInt8>) -> (ImageURL.Outline, transport: UInt16)? {
        guard unsafe !ImageURL.isData(url), let outline = unsafe try? defaults.outlineIfKept(url) else { return nil }
        if transfers.count == 1 { return (outline, 0) }
        guard let chosen = unsafe transport(for: ImageURL(checked: url, outline)) else { return nil }
        return (outline, chosen)
    }

    fileprivate func hashKey(of url: ImageURL.Outline, by transport: UInt16) -> UInt64 {
        request.hashKey(withTransfer: transfers[Int(transport)].hashKey(forURL: url.hashKey))
    }

    /// - Returns: the index of the transport; nil if the URL is to be refused.
    private func transport(for url: ImageURL) -> UInt16? {
        do throws(DownloadError) {
            guard let chosen = try defaults.appTransport(for: url) else { return 0 }
            return transfers.firstIndex { $0.appTransport === chosen }.flatMap { UInt16(exactly: $0) }
        } catch {
            return nil
        }
    }

    /// Whether it may hold the last reference to objects of the application.
    var holdsObjects: Bool { transfers.count > 1 || request.memoryToRelease != nil }
}

/// The application's pointer that its callbacks get.
@safe package struct UserData: @unchecked Sendable {
    // Safety: the library does not read what it points to.
    package let pointer: UnsafeMutableRawPointer?

    package init(_ pointer: UnsafeMutableRawPointer?) { unsafe self.pointer = pointer }
}
