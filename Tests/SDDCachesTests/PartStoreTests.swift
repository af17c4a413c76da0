import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

@Suite struct PartStoreTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    private static let key = "https://example.com/a.jpg"
    private static let name = "parts/7cff6e664a8bf6783610a2814043d343.part"
    private static let validator = Array("\"e\"".utf8)
    /// A part assembled by hand with Python's struct and xxhash: "first piece", "second".
    private static let file = bytes(
        hex: "7364642d7061727400000002000000190000000368747470733a2f2f6578616d706c652e636f6d2f"
            + "612e6a70672265220f1095b2be0d432a0000000bf0d9257e17553ad2666972737420706965636500"
            + "0000069bf8160c6135a98b7365636f6e64")
    private static let body = Array("first piecesecond".utf8)

    private func append(_ writer: PartWriter, _ text: String) throws {
        try Array(text.utf8).withUnsafeBytes { try writer.append($0) }
    }

    private func begin(_ store: DiskStore, mostBytes: Int64 = 1 << 20) throws -> PartWriter {
        try store.parts.begin(Self.key, validator: Self.validator, mostBytes: mostBytes)
    }

    @Test func writesThePartAssembledByHand() throws {
        let store = try fixture.store()
        let writer = try begin(store)
        try append(writer, "first piece")
        try append(writer, "second")
        // The file is complete before `close`, in case the process is killed now.
        #expect(try fixture.content(Self.name) == Self.file)
        writer.close()
        #expect(try run(["stat", "-c", "%a", fixture.directory + "/" + Self.name]).text == "600\n")
    }

    @Test func readsTheIntactBytesOfADamagedPart() throws {
        let store = try fixture.store()
        try fixture.put(Self.name, Self.file)
        let part = try #require(try store.parts.open(Self.key))
        #expect(part.validator == Self.validator && Array(part.body.pointer) == Self.body)
        #expect(try store.parts.open("other") == nil)
        let head = Self.file.count - 2 * 12 - Self.body.count
        for end in 0..<Self.file.count {
            try fixture.put(Self.name, Array(Self.file[..<end]))
            let part = try store.parts.open(Self.key)
            #expect(part.map { $0.body.count } == (end < head ? nil : end < head + 23 ? 0 : 11), "cut at \(end)")
            if let part { #expect(Self.body.starts(with: part.body.pointer)) }
        }
        for bit in 0..<(8 * Self.file.count) {
            var file = Self.file
            file[bit / 8] ^= 1 << UInt8(bit % 8)
            try fixture.put(Self.name, file)
            guard let part = try store.parts.open(Self.key) else {
                #expect(bit / 8 < head, "bit \(bit)")
                continue
            }
            #expect(part.validator == Self.validator && part.body.count < Self.body.count, "bit \(bit)")
            #expect(Self.body.starts(with: part.body.pointer), "bit \(bit)")
        }
    }

    @Test("Z17: resumes after the intact bytes")
    func resumes() throws {
        // given
        let store = try fixture.store()
        try fixture.put(Self.name, Array(Self.file.dropLast()))
        let part = try #require(try store.parts.open(Self.key))
        #expect(part.body.count == 11)
        // when
        let writer = try #require(try store.parts.resume(part, mostBytes: 1 << 20))
        // The writer is the only one meanwhile.
        #expect(try store.parts.resume(part, mostBytes: 1 << 20) == nil)
        try append(writer, "second")
        writer.close()
        // then
        #expect(try fixture.content(Self.name) == Self.file)
    }

    @Test func doesNotResumeAReplacedPart() throws {
        let store = try fixture.store()
        try begin(store).close()
        let part = try #require(try store.parts.open(Self.key))
        let second = try begin(store)
        try append(second, "x")
        second.close()
        #expect(try store.parts.resume(part, mostBytes: 1 << 20) == nil)
        try store.parts.remove(Self.key)
        try store.parts.remove(Self.key)
        #expect(try store.parts.resume(part, mostBytes: 1 << 20) == nil)
        #expect(try store.parts.open(Self.key) == nil)
    }

    @Test func aReplacedWriterDoesNoHarm() throws {
        let store = try fixture.store()
        let first = try begin(store)
        let second = try begin(store)
        try append(first, "old")
        try append(second, "new")
        try first.discard()
        #expect(try store.parts.open(Self.key).map { Array($0.body.pointer) } == Array("new".utf8))
        try second.discard()
        #expect(try store.parts.open(Self.key) == nil)
        #expect(try fixture.names("parts").isEmpty)
    }

    @Test func respectsItsBudget() throws {
        let store = try fixture.store()
        let writer = try begin(store, mostBytes: 200)
        try append(writer, "first piece")
        try append(writer, "")
        #expect(throws: CacheError.tooLarge) { try append(writer, String(repeating: "x", count: 200)) }
        #expect(throws: CacheError.tooLarge) { try append(writer, "y") }
        writer.close()
        #expect(try store.parts.open(Self.key)?.body.count == 11)
    }

    @Test func aFullDiskLeavesThePartUnchanged() throws {
        let store = try fixture.store()
        let writer = try begin(store)
        try append(writer, "first piece")
        fixture.files.plan = .init(kind: .write, errno: ENOSPC)
        #expect(throws: CacheError.system(.write, errno: ENOSPC)) { try append(writer, "second") }
        fixture.files.plan = .init()
        #expect(throws: CacheError.system(.write, errno: ENOSPC)) { try append(writer, "third") }
        #expect(try store.parts.open(Self.key)?.body.count == 11)
    }

    @Test("Z17: a trim enforces the budget and the age limit")
    func trimsParts() throws {
        let store = try fixture.store()
        for (index, age) in [30, 20, 10].enumerated() {
            try store.parts.begin("k\(index)", validator: [], mostBytes: 1 << 20).close()
            let name = "parts/" + MD5.hex(of: "k\(index)") + ".part"
            let seconds = fixture.time.wallMicroseconds() / 1_000_000 - Int64(age)
            _ = try run(["touch", "-d", "@\(seconds)", fixture.directory + "/" + name])
        }
        func left() throws -> [Int] { try (0..<3).filter { try store.parts.open("k\($0)") != nil } }
        store.limits.maxPartAge = 25_000_000
        _ = try store.trim()
        #expect(try left() == [1, 2])
        store.limits.maxPartBytes = try fixture.stat("parts/" + MD5.hex(of: "k2") + ".part", "%b") * 512
        _ = try store.trim()
        #expect(try left() == [2])
        try store.clear()
        #expect(try left() == [])
    }
}
