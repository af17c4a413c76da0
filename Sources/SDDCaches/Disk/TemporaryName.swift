internal import SDDBase

/// The name of a file that is being written: says by whom, so that others can tell what a dead one left. Pure but for
/// `make`.
struct TemporaryName {
    private static let prefix = "new."

    static func make() -> String {
        prefix + ProcessIdentity.current().text + "." + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }

    static func isOne(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }

    /// Whether whoever wrote it is not there any more.
    static func isOrphan(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let owner = ProcessIdentity(String(parts[1])) else { return false }
        return owner.isGone
    }
}
