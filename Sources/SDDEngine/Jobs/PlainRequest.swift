package import SDDBase
import SDDTransport

/// A request of which its model says all but its URL and the caller's data, while it waits for its turn: most are of that
/// sort where many wait. It is one block of memory, and no object. Its request, its listener and its job are made when
/// its turn comes, or when anything else happens to it: see docs/decisions/0056-a-waiting-request-is-one-block.md.
///
/// It has one owner: the submitting thread, then the inbox, then the table, and at last, of its text, the callbacks that
/// are made for it.
package struct PlainRequest: Sendable {
    /// 76 bytes, in an order that leaves two between the parts; the URL follows.
    private struct Header: Sendable {
        let model: PlainModel
        let userData: UserData
        /// The hash key of the request that will be made of it.
        let hashKey: UInt64
        var token: UInt64 = 0
        var submitted: Int64 = 0
        /// The id that its job will have.
        var id = TransferID(0)
        let outline: ImageURL.Outline
        /// As in its `WaitingPlace`.
        var index = WaitingPlace.none
        var ageIndex = WaitingPlace.none
    }

    private let block: TextBlock<Header>

    /// - Returns: nil if the URL is flawed or to be changed, or contains its own answer, or there is no memory.
    /// - Throws: an error if no transport takes the URL. The application's have been asked then, and need not be again.
    package init?(_ kind: PlainKind, url: UnsafeBufferPointer<UInt8>, userData: UserData) throws(DownloadError) {
        guard let (outline, model) = unsafe try kind.takes(url),
            let block = unsafe TextBlock(
                Header(model: model, userData: userData, hashKey: model.hashKey(of: outline), outline: outline), url)
        else { return nil }
        self.block = block
    }

    package var token: UInt64 { block.header.token }
    /// The time of its submission, from which its limits count.
    var submitted: Int64 {
        get { block.header.submitted }
        nonmutating set { block.header.submitted = newValue }
    }
    var model: PlainModel { block.header.model }
    var hostKey: UInt64 { block.header.outline.hostKey }
    var hashKey: UInt64 { block.header.hashKey }

    var id: TransferID {
        get { block.header.id }
        nonmutating set { block.header.id = newValue }
    }

    /// Its place in the table's line.
    var place: WaitingPlace {
        get {
            WaitingPlace(
                host: hostKey, index: block.header.index, ageIndex: block.header.ageIndex,
                rank: Int8(model.request.priority.rank))
        }
        nonmutating set { (block.header.index, block.header.ageIndex) = (newValue.index, newValue.ageIndex) }
    }

    func accepted(as token: UInt64, at time: Int64) { (block.header.token, block.header.submitted) = (token, time) }

    /// Frees a request that was not accepted.
    func free() { block.free() }

    /// The request itself, which is made now.
    var request: DownloadRequest {
        let request = model.request
        let url = unsafe block.text.withBytes { unsafe ImageURL(checked: $0, block.header.outline) }
        return request.with(transfer: request.transfer.with(url: url))
    }

    /// Makes the callbacks, in place of this.
    /// - Returns: also the model: perhaps the last reference to it, and to objects of the application.
    func takeCallbacks() -> (any AppCallbacks, PlainModel) {
        let header = block.takeHeader()
        return (header.model.makeCallbacks(block.text, header.userData), header.model)
    }
}

/// Makes plain requests of one spec with the same defaults. Immutable. The requests do not keep it: they keep nothing of
/// the application's that they do not use.
package final class PlainKind: Sendable {
    private let defaults: RequestDefaults
    /// For the library's transport, and for each of those in the defaults.
    private let models: [PlainModel]

    /// - Returns: nil if requests of the spec differ in more than their URL and the caller's data.
    package convenience init?(
        _ spec: RequestSpec, _ defaults: RequestDefaults, makeCallbacks: @escaping PlainModel.MakeCallbacks
    ) {
        guard let transfer = defaults.plainTransfer(spec),
            let made = try? defaults.parts(of: spec, transfer: transfer)
        else { return nil }
        self.init(DownloadRequest(made), defaults, makeCallbacks: makeCallbacks)
    }

    /// - Parameter request: with any URL; it can be shared, and neither asks a cache nor stores anything.
    init(_ request: DownloadRequest, _ defaults: RequestDefaults, makeCallbacks: @escaping PlainModel.MakeCallbacks) {
        let ofApp = defaults.appTransports.map { request.with(transfer: request.transfer.by($0.appTransport)) }
        models = ([request] + ofApp).map { PlainModel($0, makeCallbacks) }
        self.defaults = defaults
    }

    /// - Returns: the model of the URL's transport; nil if the URL is flawed or to be changed, or contains its own answer.
    /// - Throws: an error if no transport takes the URL.
    fileprivate func takes(
        _ url: UnsafeBufferPointer<UInt8>
    ) throws(DownloadError) -> (ImageURL.Outline, PlainModel)? {
        guard unsafe !ImageURL.isData(url), let outline = unsafe try? defaults.outlineIfKept(url) else { return nil }
        if models.count == 1 { return (outline, models[0]) }
        let chosen = unsafe try defaults.appTransport(for: ImageURL(checked: url, outline))
        return models.first { $0.request.transfer.appTransport === chosen }.map { (outline, $0) }
    }
}

/// What plain requests of one kind over one transport have in common. Immutable, and shared by all of them.
package final class PlainModel: Sendable {
    /// Makes the callbacks of a request, which lend the text of its URL to the application, and free it.
    package typealias MakeCallbacks = @Sendable (BlockText, UserData) -> any AppCallbacks

    /// All but the URL.
    let request: DownloadRequest
    let makeCallbacks: MakeCallbacks
    /// Whether it may hold the last reference to objects of the application.
    let holdsObjects: Bool

    fileprivate init(_ request: DownloadRequest, _ makeCallbacks: @escaping MakeCallbacks) {
        self.request = request
        self.makeCallbacks = makeCallbacks
        holdsObjects = request.memoryToRelease != nil
    }

    fileprivate func hashKey(of url: ImageURL.Outline) -> UInt64 {
        request.hashKey(withTransfer: request.transfer.hashKey(forURL: url.hashKey))
    }
}

/// The application's pointer that its callbacks get.
@safe package struct UserData: @unchecked Sendable {
    // Safety: the library does not read what it points to.
    package let pointer: UnsafeMutableRawPointer?

    package init(_ pointer: UnsafeMutableRawPointer?) { unsafe self.pointer = pointer }
}
