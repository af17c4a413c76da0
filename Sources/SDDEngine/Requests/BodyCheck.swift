import SDDBase

/// The digest and size that a caller expects of a body as received from the network, before any processing (row Z12). A
/// value.
package struct BodyCheck: Hashable, Sendable {
    /// 32 bytes; `nil` accepts any digest.
    private let sha256: [UInt8]?
    /// `nil` accepts any size.
    private let count: Int64?

    package init(sha256: [UInt8]?, count: Int64?) {
        self.sha256 = sha256
        self.count = count
    }

    func accepts(_ bytes: Bytes) -> Bool {
        if let count, Int64(bytes.count) != count { return false }
        guard let sha256 else { return true }
        return unsafe SHA256.digest(of: bytes.pointer) == sha256
    }

    /// The check as words for `BodyWork.identity`: equal for equal checks, different for different ones.
    var words: [UInt] {
        let digest = sha256?.map { UInt($0) } ?? []
        return [UInt(digest.count)] + digest + [UInt(truncatingIfNeeded: count ?? -1)]
    }
}
