import Glibc
import SDDBase
import SDDCaches
import TestSupport
import Testing

/// Makes each system call fail once, during everything that a store does.
@Suite struct DiskFaultTests {
    private static let old = randomBytes(3000, seed: 1)
    private static let new = randomBytes(5000, seed: 2)

    /// Uses every operation once. Failures are reported to the caller, or counted.
    private func exercise(_ fixture: DiskFixture) {
        guard let store = try? fixture.store() else { return }
        try? store.write("a.png", Self.new)
        if let body = try? store.body("a.png") { #expect(body == Self.new || body == Self.old) }
        _ = try? store.readMetadata("b")
        if let file = try? store.openBody("b") { close(file.descriptor) }
        _ = try? store.remove("c")
        store.flushUses()
        if case .owned(let claim) = store.downloads.claim("a.png") { claim.release() }
        exerciseParts(store)
        _ = try? store.trim()
        try? store.write("d", Self.new)
    }

    private func exerciseParts(_ store: DiskStore) {
        let writer = try? store.parts.begin("p", validator: [1], mostBytes: 1 << 20)
        try? Self.old.withUnsafeBytes { try writer?.append($0) }
        writer?.close()
        guard let part = try? store.parts.open("p") else { return }
        #expect(Array(part.body.pointer) == Self.old || part.body.count == 0)
        let next = try? store.parts.resume(part, mostBytes: 1 << 20)
        try? Self.new.withUnsafeBytes { try next?.append($0) }
        next?.close()
    }

    private func prepare(_ fixture: DiskFixture) throws {
        let store = try fixture.soundStore()
        for key in ["a.png", "b", "c"] { try store.write(key, Self.old) }
    }

    /// Checks that each entry is whole or absent, and that no temporary file is left.
    private func check(_ fixture: DiskFixture, _ comment: Comment) throws {
        let store = try fixture.soundStore()
        for key in ["a.png", "b", "c", "d"] {
            let body = try store.body(key)
            #expect(body == nil || body == Self.old || body == Self.new, comment)
        }
        if let part = try store.parts.open("p") {
            let body = Array(part.body.pointer)
            // The first piece may be the one that failed.
            #expect((Self.old + Self.new).starts(with: body) || body == Self.new, comment)
        }
        fixture.time.setWall(microseconds: SystemTime().wallMicroseconds() + 601_000_000)
        store.limits.maxAge = nil
        _ = try #require(try store.trim())
        #expect(try fixture.entries().allSatisfy { !$0.utf8.starts(with: "new.".utf8) }, comment)
        #expect(try store.totals().count == Int64(fixture.entries().count), comment)
        guard case .owned = store.downloads.claim("a.png") else {
            Issue.record("a lock is left: \(comment)")
            return
        }
    }

    private static let errors = [EIO, ENOSPC, EMFILE, EACCES]

    @Test(arguments: errors)
    func eachCallMayFail(errno: Int32) throws {
        let counted = try DiskFixture()
        try prepare(counted)
        exercise(counted)
        let calls = counted.files.calls
        #expect(calls > 60)
        // Each call fails in one of four ways, and in the long form in each of them.
        for call in 0..<calls where TestLength.isLong || Self.errors[call % Self.errors.count] == errno {
            let fixture = try DiskFixture()
            try prepare(fixture)
            fixture.files.plan = .init(fails: call, errno: errno)
            exercise(fixture)
            #expect(fixture.files.opened == 0, "call \(call)")
            try check(fixture, "call \(call), error \(errno)")
        }
    }

    @Test func aFullDiskIsReportedAndKeepsTheOldEntries() throws {
        let fixture = try DiskFixture()
        try prepare(fixture)
        let store = try fixture.store()
        fixture.files.plan = .init(kind: .write, errno: ENOSPC)
        #expect(throws: CacheError.system(.write, errno: ENOSPC)) { try store.write("b", Self.new) }
        #expect(try store.body("b") == Self.old)
        #expect(try fixture.entries().count == 3)
    }

    @Test func readErrorsAreReportedAndRemoveNothing() throws {
        let fixture = try DiskFixture()
        try prepare(fixture)
        let store = try fixture.store()
        fixture.files.plan = .init(kind: .read, errno: EIO)
        #expect(throws: CacheError.system(.read, errno: EIO)) { try store.read("b") }
        fixture.files.plan = .init(kind: .open, errno: EMFILE)
        #expect(throws: CacheError.system(.open, errno: EMFILE)) { try store.read("b") }
        fixture.files.plan = .init()
        #expect(try store.body("b") == Self.old)
    }

    /// - Returns: False if an entry was read that was never stored.
    private static func step(
        _ store: DiskStore, _ key: String, _ bodies: [[UInt8]], _ random: inout SeededRandom
    ) throws -> Bool {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8: try store.write(key, bodies[Int.random(in: 0..<4, using: &random)])
        case 8..<17: return try store.body(key).map { bodies.contains($0) } ?? true
        case 17: try store.remove(key)
        case 18: _ = try store.trim()
        default: try store.clear()
        }
        return true
    }

    @Test func threadsAndStoresShareADirectory() throws {
        // given
        let fixture = try DiskFixture()
        let stores = [try fixture.soundStore(), try fixture.soundStore()]
        let bodies = (0..<4).map { randomBytes(2000 * ($0 + 1), seed: UInt64($0)) }
        let wrong = Monitor(0)
        // when
        let threads = try (0..<4).map { number in
            try NativeThread(name: "test-\(number)") {
                var random = SeededRandom(seed: UInt64(number))
                for _ in 0..<150 {
                    let store = stores[number % 2]
                    let key = "k\(Int.random(in: 0..<6, using: &random))"
                    let failed = (try? Self.step(store, key, bodies, &random)) != true
                    if failed { wrong.withLock { $0 += 1 } }
                }
            }
        }
        for thread in threads { thread.join() }
        // then
        #expect(wrong.withLock { $0 } == 0)
        _ = try stores[0].trim()
        #expect(try stores[1].totals().count == Int64(fixture.entries().count))
    }
}
