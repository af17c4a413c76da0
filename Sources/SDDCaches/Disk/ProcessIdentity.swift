internal import Glibc

/// A process in words that others can check: its number alone may be given to another after its end, and means nothing
/// in another container. Any thread.
struct ProcessIdentity: Equatable {
    let process: Int32
    /// When it began, in ticks since the system's start, see proc_pid_stat(5); 0: not known.
    let start: UInt64
    /// The number of its namespace of processes; 0: not known.
    let namespace: UInt64

    /// Looked up once, and in a forked child each time.
    static func current() -> ProcessIdentity { known.process == getpid() ? known : lookUp() }

    private static let known = lookUp()

    private static func lookUp() -> ProcessIdentity {
        let process = getpid()
        return ProcessIdentity(process: process, start: startTime(of: process) ?? 0, namespace: ownNamespace())
    }

    init(process: Int32, start: UInt64, namespace: UInt64) {
        self.process = process
        self.start = start
        self.namespace = namespace
    }

    /// What `text` gave; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let process = Int32(parts[0]), process > 0, let start = UInt64(parts[1]),
            let namespace = UInt64(parts[2])
        else { return nil }
        self.init(process: process, start: start, namespace: namespace)
    }

    var text: String { "\(process)-\(start)-\(namespace)" }

    /// Whether it has ended for certain: what cannot be seen from here may be alive.
    var isGone: Bool {
        guard namespace != 0, namespace == Self.ownNamespace() else { return false }
        if kill(process, 0) != 0 && errno == ESRCH { return true }
        guard start != 0, let now = Self.startTime(of: process) else { return false }
        return now != start
    }

    private static func ownNamespace() -> UInt64 {
        var status = stat()
        return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// The 22nd field of /proc/<pid>/stat. The second is a name in parentheses, which may hold anything.
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
