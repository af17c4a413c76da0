internal import SDDBase

/// The name of a file that is being written. It identifies the writer, so that other processes can recognise the files
/// of a dead one. Pure except for `make`.
struct TemporaryName {
    private static let prefix = "new."

    static func make() -> String {
        prefix + ProcessIdentity.current().text + "." + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }

    static func isOne(_ name: String) -> Bool { owner(of: name) != nil }

    private static func owner(of name: String) -> ProcessIdentity? {
        guard name.utf8.starts(with: prefix.utf8) else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 ? ProcessIdentity(String(parts[1])) : nil
    }

    /// The longest time in microseconds that writing a file may take, given that its body is in memory already.
    private static let longestWrite: Int64 = 10 * 60 * 1_000_000

    /// Whether nobody writes the file any more. The age counts only where its process cannot be seen from here: it grows
    /// when the clock is set, and while a machine sleeps.
    static func isAbandoned(_ name: String, age: Int64) -> Bool {
        guard let owner = owner(of: name) else { return false }
        return owner.isGone || (!owner.isSeen && age >= longestWrite)
    }
}
