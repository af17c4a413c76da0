package import SDDBase
package import SDDTransport

/// One caller's wish, checked: what is to be fetched, how urgently, and whether as pixels or as bytes.
package struct DownloadRequest: Sendable {
    package var transfer: HTTPRequest
    package var priority: Priority
    package var wantsPixels: Bool
    package var wantsProgress: Bool

    package init(
        transfer: HTTPRequest, priority: Priority = .normal, wantsPixels: Bool = true, wantsProgress: Bool = false
    ) {
        self.transfer = transfer
        self.priority = priority
        self.wantsPixels = wantsPixels
        self.wantsProgress = wantsProgress
    }

    /// What must agree for two requests to share a transfer; nil for one that never does, because sending
    /// it twice is not the same as sending it once (RFC 9110 §9.2.1).
    var coalescingKey: CoalescingKey? {
        guard transfer.body == nil, transfer.method == "GET" || transfer.method == "HEAD" else { return nil }
        return CoalescingKey(
            url: transfer.url, method: transfer.method, headers: transfer.headers,
            verifiesCertificate: transfer.verifiesCertificate)
    }
}

/// The effective request, as far as an answer can depend on it.
struct CoalescingKey: Hashable, Sendable {
    let url: ImageURL
    let method: String
    let headers: HTTPFields
    let verifiesCertificate: Bool

    /// The URL alone spreads the keys; headers are compared only when URLs are equal, and then mostly by
    /// the identity of the storage they share.
    func hash(into hasher: inout Hasher) {
        hasher.combine(url.text)
    }
}
