internal import Glibc

/// The steps that a load takes from part to part. Debug builds append each of them to the file that the environment
/// variable SDD_TRACE names; `Tests/Hops/hops.py` makes the tables of docs/design.md from that. In release builds there
/// is nothing of it.
public enum Trace {
    /// The tables under whose locks decisions are made.
    public enum Lock: String { case downloader = "T", loader = "L" }

    /// Notes that a part begins its step.
    /// - Parameter lock: which lock is held.
    @inlinable @inline(__always)
    public static func step(_ name: StaticString, _ lock: Lock? = nil, file: StaticString = #fileID) {
        #if DEBUG
            note(name, lock, file)
        #endif
    }

    #if DEBUG
        private static let output: Int32 = {
            guard let path = getenv("SDD_TRACE") else { return -1 }
            return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        }()

        @usableFromInline static func note(_ name: StaticString, _ lock: Lock?, _ file: StaticString) {
            guard output >= 0 else { return }
            let line = "\(threadName)\t\(lock?.rawValue ?? "")\t\(file)\t\(name)\n"
            _ = line.withCString { write(output, $0, strlen($0)) }
        }

        private static var threadName: String {
            let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
            var name = [UInt8](repeating: 0, count: 16)
            let count = read(file, &name, name.count)
            close(file)
            return String(decoding: name.prefix(max(0, count - 1)), as: UTF8.self)
        }
    #endif
}
