internal import Glibc

/// A process id that other processes can check. The pid alone may be reused after the process ends, and means nothing
/// in another container. Safe on any thread.
struct ProcessIdentity: Equatable {
    let process: Int32
    /// The start time in ticks since the system's start, see proc_pid_stat(5); 0 if unknown.
    let start: UInt64
    /// The inode number of the pid namespace; 0 if unknown.
    let namespace: UInt64

    /// Returns the identity of this process. Looked up once, and each time in a forked child.
    static func current() -> ProcessIdentity { known.process == getpid() ? known : lookUp() }

    private static let known = lookUp()

    private static func lookUp() -> ProcessIdentity {
        let process = getpid()
        return ProcessIdentity(process: process, start: startTime(of: process) ?? 0, namespace: ownNamespace())
    }

}

extension ProcessIdentity {
    /// Parses a value of `text`; returns nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let process = Int32(parts[0]), process > 0, let start = UInt64(parts[1]),
            let namespace = UInt64(parts[2])
        else { return nil }
        self.init(process: process, start: start, namespace: namespace)
    }

    var text: String { "\(process)-\(start)-\(namespace)" }

    /// Whether it can be told from here whether the process has ended.
    var isSeen: Bool { namespace != 0 && namespace == Self.ownNamespace() }

    /// True if the process has certainly ended. One that cannot be seen from here may be alive.
    var isGone: Bool {
        guard isSeen else { return false }
        if kill(process, 0) != 0 && errno == ESRCH { return true }
        guard start != 0, let now = Self.startTime(of: process) else { return false }
        return now != start
    }

    private static func ownNamespace() -> UInt64 {
        var status = stat()
        return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// Returns the 22nd field of /proc/<pid>/stat. The second field is a name in parentheses, which may contain any
    /// characters.
    private static func startTime(of process: Int32) -> UInt64? {
        let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)..<count].split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
    }
}
