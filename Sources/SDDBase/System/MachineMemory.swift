internal import Glibc

/// The memory this process may use: that of the machine, or less if a control group limits it, as in a container. Reads
/// a few small files in /proc and /sys. Callable from any thread.
package struct MachineMemory {
    /// Returns the text of a file, or nil if it cannot be read. Tests supply the texts from a table.
    typealias Reader = (_ path: String) -> String?

    /// The limit in bytes. Read each time, since it may change at any time.
    package static var limit: Int { MachineMemory(reader: smallFile).limit }

    private let reader: Reader
    private let fallback: Int

    init(reader: @escaping Reader, fallback: Int = systemMemory) {
        self.reader = reader
        self.fallback = fallback
    }

    var limit: Int { min(physical ?? fallback, groupLimit) }

    /// The memory of the machine, or of the virtual machine or container that presents itself as one.
    private var physical: Int? {
        guard let meminfo = reader("/proc/meminfo") else { return nil }
        for line in meminfo.utf8.split(separator: UInt8(ascii: "\n")) where line.starts(with: "MemTotal:".utf8) {
            // Example: "MemTotal:       16307416 kB"
            let digits = line.drop { !isDigit($0) }.prefix(while: isDigit)
            let (bytes, isLarge) = (Int(Substring(digits)) ?? 0).multipliedReportingOverflow(by: 1024)
            return isLarge || bytes == 0 ? nil : bytes
        }
        return nil
    }

    /// The smallest limit of all groups that contain the process, since an outer group's limit applies too.
    private var groupLimit: Int {
        var limit = Int.max
        for folder in ControlGroups(text: reader("/proc/self/cgroup") ?? "").folders {
            for name in folder.limits {
                // "max", or any other text that is not a number, means no limit. Version 1 uses a number larger than
                // any memory.
                guard let text = reader(folder.path + "/" + name) else { continue }
                if let bytes = Int(Substring(text.utf8.prefix(while: isDigit))) { limit = min(limit, bytes) }
            }
        }
        return limit
    }
}

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

/// The memory the C library reports; `Int.max` if it does not know.
private let systemMemory: Int = {
    let (bytes, isLarge) = sysconf(Int32(_SC_PHYS_PAGES)).multipliedReportingOverflow(by: sysconf(Int32(_SC_PAGESIZE)))
    return isLarge || bytes <= 0 ? .max : bytes
}()

extension MachineMemory {
    /// Reads the first 64 KiB of a file, which is enough for every file read here.
    static func smallFile(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { rest in
                rest.baseAddress.map { read(file, $0 + count, rest.count - count) } ?? 0
            }
            if got < 0 && errno == EINTR { continue }
            if got <= 0 { break }
            count += got
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
