internal import SDDBase

/// The name of a file that is being written. It identifies the writer, so that other processes can recognise the files
/// of a dead one. Pure except for `make`.
struct TemporaryName {
    private static let prefix = "new."

    static func make() -> String {
        prefix + ProcessIdentity.current().text + "." + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }

    static func isOne(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }

    /// Whether the process that wrote the file has ended.
    static func isOrphan(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let owner = ProcessIdentity(String(parts[1])) else { return false }
        return owner.isGone
    }
}
