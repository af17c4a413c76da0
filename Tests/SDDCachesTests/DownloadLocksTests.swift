import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

@Suite struct DownloadLocksTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    private static func claim(_ store: DiskStore, _ key: String = "k") -> DownloadClaim? {
        guard case .owned(let claim) = store.downloads.claim(key) else { return nil }
        return claim
    }

    private func isBusy(_ store: DiskStore) -> Bool {
        if case .busy = store.downloads.claim("k") { true } else { false }
    }

    private func locks(_ fixture: DiskFixture) throws -> [String] {
        try fixture.names("locks").filter { $0.utf8.suffix(5).elementsEqual(".lock".utf8) }
    }

    private static let name = "locks/8ce4b16b22b58894aa86c421e8759df3.lock"

    @Test("Z8: one owner, in all stores of a directory")
    func hasOneOwner() throws {
        let (a, b) = (try fixture.store(), try fixture.store())
        let owned = try #require(Self.claim(a))
        #expect(isBusy(a) && isBusy(b))
        #expect(Self.claim(b, "other") != nil)
        let text = String(decoding: try fixture.content(Self.name), as: UTF8.self)
        #expect(text.split(separator: "-").first.map { Int32($0) } == getpid())
        owned.release()
        owned.release()
        #expect(try locks(fixture).isEmpty)
        #expect(Self.claim(b) != nil)
        #expect(Self.claim(a) != nil)
    }

    @Test func aUserOfTheDirectoryKnowsWhetherItIsAlone() throws {
        let store = try fixture.store()
        #expect(!store.downloads.isShared)
        var other: DiskStore? = try fixture.store()
        #expect(store.downloads.isShared && other?.downloads.isShared == true)
        other = nil
        // A process that another test begins has a copy of the descriptor until it runs its program.
        let deadline = SystemTime().monotonicMicroseconds() + 30_000_000
        while store.downloads.isShared, SystemTime().monotonicMicroseconds() < deadline { sched_yield() }
        #expect(!store.downloads.isShared)
    }

    @Test func whoComesLaterFindsTheMarkOfAUserWhoWasAlone() throws {
        let store = try fixture.store()
        let mark = try #require(store.downloads.markAlone("k"))
        #expect(try locks(fixture).isEmpty)
        let other = try fixture.store()
        #expect(isBusy(other) && other.downloads.owner(of: "k") == 0)
        #expect(Self.claim(other, "another") != nil && store.downloads.markAlone("another") == nil)
        mark.release()
        #expect(other.downloads.owner(of: "k") == nil)
        #expect(Self.claim(other) != nil)
    }

    @Test func aMarkEndsOnce() throws {
        let store = try fixture.store()
        var first: DownloadMark? = try #require(store.downloads.markAlone("k"))
        first?.release()
        let second = try #require(store.downloads.markAlone("k"))
        first = nil
        #expect(isBusy(try fixture.store()) && first == nil)
        second.release()
    }

    @Test(arguments: [FaultyFiles.Plan(kind: .lock), FaultyFiles.Plan(isOnLocalDisk: false)])
    func aDirectoryWhoseUsersAreNotToldCountsAsShared(_ plan: FaultyFiles.Plan) throws {
        fixture.files.plan = plan
        let store = try fixture.store()
        fixture.files.plan = FaultyFiles.Plan()
        #expect(store.downloads.isShared)
    }

    @Test func aDeadOwnersLockIsFree() throws {
        let store = try fixture.store()
        try fixture.put(Self.name, Array("1-2-3".utf8))
        #expect(Self.claim(store) != nil)
    }

    @Test func theHeirOfADeadOwnerKeepsItsNumber() throws {
        let store = try fixture.store()
        func number() -> UInt64? {
            if case .busy(let lock) = store.downloads.claim("k") { lock } else { nil }
        }
        try fixture.put(Self.name, Array("1-2-3 77".utf8))
        let heir = try #require(Self.claim(store))
        #expect(number() == 77)
        heir.release()
        let next = try #require(Self.claim(store))
        #expect(![nil, 0, 77].contains(number()))
        next.release()
    }

    /// Holds the lock as a forked child of its owner does: the lock is held, but its owner is gone.
    private func hold(_ fixture: DiskFixture, as owner: ProcessIdentity?) throws -> Int32 {
        try fixture.put(Self.name, Array((owner.map { $0.text + " 5" } ?? "").utf8))
        let descriptor = open(fixture.directory + "/" + Self.name, O_RDWR | O_CLOEXEC)
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return descriptor
    }

    /// Frees the lock. Closing alone would not do: a program that another test is just starting has a copy until it
    /// runs.
    private static func free(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    @Test func aLockThatOutlivesItsOwnerIsBroken() throws {
        let store = try fixture.store()
        let me = ProcessIdentity.current()
        #expect(me.start > 0 && me.namespace > 0 && !me.isGone)
        let reused = ProcessIdentity(process: me.process, start: me.start + 1, namespace: me.namespace)
        let ended = ProcessIdentity(process: .max, start: 5, namespace: me.namespace)
        for owner in [reused, ended] {
            let descriptor = try hold(fixture, as: owner)
            let claim = try #require(Self.claim(store))
            #expect(isBusy(store))
            claim.release()
            Self.free(descriptor)
        }
    }

    @Test func anOwnerThatEndsDuringTheCheckLeavesItsNumber() throws {
        let store = try fixture.store()
        let ended = ProcessIdentity(process: .max, start: 5, namespace: ProcessIdentity.current().namespace)
        let descriptor = try hold(fixture, as: ended)
        fixture.files.onRead { Self.free(descriptor) }
        let claim = try #require(Self.claim(store))
        guard case .busy(let lock) = store.downloads.claim("k") else {
            Issue.record("two owners")
            return
        }
        #expect(lock == 5)
        claim.release()
    }

    @Test func aLockTakenOverMeanwhileIsNotBroken() throws {
        let store = try fixture.store()
        let ended = ProcessIdentity(process: .max, start: 5, namespace: ProcessIdentity.current().namespace)
        let descriptor = try hold(fixture, as: ended)
        // The lock file for breaking locks is held by another process, as while it breaks or takes over this lock.
        let breaking = open(fixture.directory + "/locks/breaking", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(breaking, LOCK_EX | LOCK_NB) == 0)
        #expect(isBusy(store))
        Self.free(descriptor)
        #expect(isBusy(store))
        Self.free(breaking)
        #expect(Self.claim(store) != nil)
    }

    @Test func aLockWhoseOwnerMayBeAliveIsNotBroken() throws {
        let store = try fixture.store()
        let me = ProcessIdentity.current()
        let far = ProcessIdentity(process: .max, start: 5, namespace: me.namespace + 1)
        let unknown = ProcessIdentity(process: .max, start: 5, namespace: 0)
        for owner in [me, far, unknown, nil] {
            let descriptor = try hold(fixture, as: owner)
            #expect(isBusy(store))
            Self.free(descriptor)
        }
    }

    @Test func aDownloadThatIsBeingStoredStaysOwnedWithoutADescriptor() throws {
        // given
        let (a, b) = (try fixture.store(), try fixture.store())
        let before = fixture.files.opened
        let owned = try #require(Self.claim(a))
        #expect(fixture.files.opened == before + 1)
        // when
        owned.closeWhileStoring()
        owned.closeWhileStoring()
        // then
        #expect(fixture.files.opened == before)
        #expect(isBusy(a) && isBusy(b) && (b.downloads.owner(of: "k") ?? 0) != 0)
        #expect(fixture.files.opened == before)
        fixture.time.setWall(microseconds: SystemTime().wallMicroseconds() + 1_000_000_000)
        _ = try b.trim()
        #expect(isBusy(b))
        owned.release()
        owned.release()
        #expect(try locks(fixture).isEmpty && b.downloads.owner(of: "k") == nil)
        #expect(fixture.files.wrongCloses == 0)
        let next = try #require(Self.claim(b))
        next.release()
    }

    @Test func theDownloadOfADeadProcessIsTakenOver() throws {
        let store = try fixture.store()
        let me = ProcessIdentity.current()
        let ended = ProcessIdentity(process: .max, start: 5, namespace: me.namespace)
        try fixture.put(Self.name, Array((ended.text + " 77 storing").utf8))
        #expect(store.downloads.owner(of: "k") == nil)
        let heir = try #require(Self.claim(store))
        #expect(store.downloads.owner(of: "k") == 77)
        // An owner that was taken for dead releases the lock, but it stays the heir's.
        try fixture.put(Self.name, Array((me.text + " 78").utf8))
        heir.closeWhileStoring()
        heir.release()
        #expect(try locks(fixture).count == 1)
    }

    @Test("a process that is not visible from here counts as alive for some minutes")
    func theDownloadOfAnInvisibleProcessStaysOwnedForAWhile() throws {
        let store = try fixture.store()
        let far = ProcessIdentity(process: 1, start: 5, namespace: ProcessIdentity.current().namespace + 1)
        try fixture.put(Self.name, Array((far.text + " 5 storing").utf8))
        fixture.time.setWall(microseconds: SystemTime().wallMicroseconds())
        #expect(isBusy(store) && store.downloads.owner(of: "k") == 5)
        fixture.time.advance(microseconds: 601_000_000)
        #expect(store.downloads.owner(of: "k") == nil)
        #expect(Self.claim(store) != nil)
    }

    @Test func askingForTheOwnerTakesNoLock() throws {
        let store = try fixture.store()
        #expect(store.downloads.owner(of: "k") == nil)
        #expect(try locks(fixture).isEmpty)
        let owned = try #require(Self.claim(store))
        let number = store.downloads.owner(of: "k")
        #expect(number != nil && number != 0 && store.downloads.owner(of: "k") == number)
        owned.release()
        let ended = ProcessIdentity(process: .max, start: 5, namespace: ProcessIdentity.current().namespace)
        let descriptor = try hold(fixture, as: ended)
        #expect(store.downloads.owner(of: "k") == nil)
        Self.free(descriptor)
    }

    @Test func reportsThatLocksAreUnavailable() throws {
        let store = try fixture.store()
        for kind in [FaultyFiles.Kind.open, .lock, .write] {
            fixture.files.plan = .init(kind: kind, errno: ENOLCK)
            guard case .unavailable = store.downloads.claim("k") else {
                Issue.record("\(kind): a lock was given")
                continue
            }
            #expect(fixture.files.wrongCloses == 0)
        }
        fixture.files.plan = .init()
        _ = try run(["ln", "-s", "/tmp", fixture.directory + "/" + Self.name])
        guard case .unavailable = store.downloads.claim("k") else {
            Issue.record("a symbolic link was taken for a lock")
            return
        }
    }

    @Test func onlyOneOfManyThreadsHoldsALock() throws {
        let stores = [try fixture.soundStore(), try fixture.soundStore()]
        let holders = Monitor((now: 0, most: 0, all: 0))
        let threads = try (0..<4).map { number in
            try NativeThread(name: "test-\(number)") {
                for _ in 0..<300 {
                    guard let claim = Self.claim(stores[number % 2]) else { continue }
                    holders.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
                    holders.withLock { $0.now -= 1 }
                    claim.release()
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(holders.withLock { $0.most } == 1)
        #expect(holders.withLock { $0.all } > 0)
    }

    @Test func aTrimRemovesOldLocksThatAreNotHeld() throws {
        let store = try fixture.store()
        try fixture.put("locks/16ada05214aa9a815c6159c4ab557994.lock", [])
        let owned = try #require(Self.claim(store))
        fixture.time.setWall(microseconds: SystemTime().wallMicroseconds())
        _ = try store.trim()
        #expect(try fixture.names("locks").count == 2)
        fixture.time.advance(microseconds: 601_000_000)
        _ = try store.trim()
        #expect(try locks(fixture).count == 1)
        #expect(isBusy(store))
        owned.release()
    }
}
