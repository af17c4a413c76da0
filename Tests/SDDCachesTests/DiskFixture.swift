import Glibc
import SDDBase
import SDDCaches
import TestSupport

/// A new directory with a cache in it, and helpers to examine it.
struct DiskFixture {
    let folder: TemporaryFolder
    let time = ManualTime()
    let files = FaultyFiles()
    var options: DiskOptions

    init() throws {
        folder = try TemporaryFolder()
        options = DiskOptions(directory: folder.path("cache"))
    }

    var directory: String { options.directory }

    func store() throws -> DiskStore { try DiskStore(options: options, files: files, time: time) }

    /// Returns a store whose system calls never fail.
    func soundStore() throws -> DiskStore { try DiskStore(options: options, time: time) }

    /// The file names in the cache's directory, without directories and the cache's own files.
    func entries() throws -> [String] {
        try names().filter { !["ledger", "trim.lock", "locks", "parts", "key"].contains($0) }
    }

    func names(_ folder: String = "") throws -> [String] {
        try run(["ls", "-A", directory + "/" + folder]).text.split(separator: "\n").map(String.init)
    }

    func content(_ name: String) throws -> [UInt8] { try run(["cat", directory + "/" + name]).output }

    func put(_ name: String, _ bytes: [UInt8]) throws { try folder.write("cache/" + name, bytes) }

    /// Runs `stat` of coreutils: sizes are in blocks of 512 bytes, times in seconds.
    func stat(_ name: String, _ format: String) throws -> Int64 {
        Int64(try run(["stat", "-c", format, directory + "/" + name]).text.filter { $0 != "\n" }) ?? -1
    }
}

extension DiskStore {
    func write(_ key: String, _ body: [UInt8], http: [UInt8] = [], user: [UInt8] = []) throws {
        try body.withUnsafeBytes {
            try write(EntryMetadata(key: key, http: http, user: user, format: 1), body: $0)
        }
    }

    func body(_ key: String) throws -> [UInt8]? { try read(key).map { Array($0.body.pointer) } }
}

/// Parses two hexadecimal digits per byte.
func bytes(hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
}

func randomBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededRandom(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes += $0 } }
    return Array(bytes.prefix(count))
}
