package import SDDBase
package import SDDTransport

/// One caller's wish, checked: what is to be fetched, how urgently, for how long, what is accepted, and whether
/// as pixels or as bytes.
package struct DownloadRequest: Sendable {
    package var transfer: HTTPRequest
    package var priority = Priority.normal
    package var wantsPixels = true
    package var wantsProgress = false
    package var continuesInBackground = false
    /// From submitting to the start of the transfer, and to the end; microseconds, 0 for no limit.
    package var queueLimit: Int64 = 0
    package var totalLimit: Int64 = 0
    package var acceptance = Acceptance.standard
    /// What the host does to the response and the body; nil for nothing.
    package var bodyWork: BodyWork?

    package init(transfer: HTTPRequest) { self.transfer = transfer }

    /// What must agree for two requests to share a transfer; nil for one that never does, because sending
    /// it twice is not the same as sending it once (RFC 9110 §9.2.1).
    var coalescingKey: CoalescingKey? {
        guard transfer.body == nil, transfer.method == "GET" || transfer.method == "HEAD" else { return nil }
        return CoalescingKey(
            url: transfer.url, method: transfer.method, headers: transfer.headers, options: transfer.options,
            plugin: transfer.plugin.map { ObjectIdentifier($0) }, bodyWork: bodyWork)
    }
}

/// The effective request, as far as an answer can depend on it.
struct CoalescingKey: Hashable, Sendable {
    let url: ImageURL
    let method: String
    let headers: HTTPFields
    let options: TransferOptions
    let plugin: ObjectIdentifier?
    let bodyWork: BodyWork?

    /// The URL alone spreads the keys; the rest is compared only when URLs are equal, and then mostly by
    /// the identity of the storage they share.
    func hash(into hasher: inout Hasher) {
        hasher.combine(url.text)
    }
}
