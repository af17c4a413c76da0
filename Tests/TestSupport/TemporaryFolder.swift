import Glibc
import SDDBase

/// A new folder for one test or one server, removed with the last reference, or at the end of the process.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws(TestSupportFailure) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/libsdd-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestSupportFailure("no temporary folder: error \(errno)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        _ = Self.removesAtExit
        Self.existing.withLock { _ = $0.insert(path) }
    }

    deinit {
        Self.existing.withLock { _ = $0.remove(path) }
        Self.remove(path)
    }

    package func path(_ name: String) -> String { path + "/" + name }

    /// - Returns: The path of the file.
    @discardableResult
    package func write(_ name: String, _ content: some Sequence<UInt8>) throws(TestSupportFailure) -> String {
        let file = path(name)
        let bytes = Array(content)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TestSupportFailure("cannot write \(file): error \(errno)") }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let rest = bytes[written...]
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw TestSupportFailure("cannot write \(file): error \(errno)") }
            written += count
        }
        return file
    }

    @discardableResult
    package func write(_ name: String, _ text: String) throws(TestSupportFailure) -> String {
        try write(name, text.utf8)
    }

    // MARK: Removing

    private static let existing = Monitor<Set<String>>([])

    /// Removes at exit what has no last reference: the folders of servers that the whole process shares.
    private static let removesAtExit: Void = {
        atexit {
            for path in TemporaryFolder.existing.withLock({ $0 }) { TemporaryFolder.remove(path) }
        }
    }()

    private static func remove(_ path: String) { _ = try? run(["rm", "-rf", path]) }
}
