import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

/// Files of other programs, which are no entries although they are named like them.
@Suite struct DirectoryOwnerTests {
    private let fixture: DiskFixture
    private let picture = String(repeating: "0123456789abcdef", count: 2) + ".jpg"

    init() throws {
        fixture = try DiskFixture()
        try #require(mkdir(fixture.directory, 0o700) == 0)
    }

    @Test func aDirectoryOfPicturesIsRefusedAndStays() throws {
        // given
        try fixture.put(picture, [0xff, 0xd8, 0xff, 0xd9])
        let other = try DiskFixture().store()
        // when, then
        #expect(throws: CacheError.foreignFile(picture)) { try fixture.store() }
        #expect(throws: CacheError.foreignFile(picture)) { try DirectoryMerge(of: fixture.directory, into: other) }
        #expect(try fixture.names() == [picture])
    }

    @Test func entriesOfADirectoryThatHasLostItsKeyAreRead() throws {
        // given
        try fixture.store().write("k", [1, 2, 3])
        try fixture.put(picture, [])
        for name in ["key", "ledger"] { _ = unlink(fixture.directory + "/" + name) }
        // when, then
        #expect(try fixture.store().body("k") == [1, 2, 3])
    }

    @Test func filesWithOtherNamesStay() throws {
        // given
        let store = try fixture.store()
        try store.write("k", [1])
        let others = ["new.jpg", "parts/engine.part", "locks/mine.lock", "notes.txt"]
        for name in others { try fixture.put(name, [1]) }
        fixture.time.setWall(microseconds: SystemTime().wallMicroseconds() + 3_600_000_000)
        // when
        _ = try store.trim()
        try store.clear()
        var merge = try DirectoryMerge(of: fixture.directory, into: DiskFixture().store())
        #expect(try merge.run { _ in true } == 0)
        // then
        for name in others { #expect(access(fixture.directory + "/" + name, F_OK) == 0, "\(name)") }
    }

    @Test func aMergeOfADirectoryWithoutEntriesRemovesNothing() throws {
        // given
        for folder in ["parts", "locks"] { try #require(mkdir(fixture.directory + "/" + folder, 0o700) == 0) }
        let others = ["ledger", "parts/engine.jpg", "notes.txt"]
        for name in others { try fixture.put(name, [1]) }
        // when
        var merge = try DirectoryMerge(of: fixture.directory, into: DiskFixture().store())
        #expect(try merge.run { _ in true } == 0)
        // then
        for name in others { #expect(access(fixture.directory + "/" + name, F_OK) == 0, "\(name)") }
        #expect(access(fixture.directory + "/locks", F_OK) == 0)
    }

    /// A name under the directory means it too after another program has moved it away.
    @Test func aTrimStaysInTheDirectoryThatWasOpened() throws {
        // given
        let store = try fixture.store()
        try store.write("k", [1])
        try #require(rename(fixture.directory, fixture.directory + ".old") == 0)
        // when
        _ = try store.trim()
        // then
        #expect(try store.body("k") == [1])
        #expect(access(fixture.directory, F_OK) != 0)
    }
}
