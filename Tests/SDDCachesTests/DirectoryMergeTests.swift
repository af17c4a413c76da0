import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

/// Takes over another cache's directory.
@Suite struct DirectoryMergeTests {
    private let fixture: DiskFixture
    private let other: DiskFixture

    init() throws {
        fixture = try DiskFixture()
        other = try DiskFixture()
    }

    private func merge(_ store: DiskStore, where isWanted: (String) -> Bool = { _ in true }) throws -> Int64 {
        var merge = try DirectoryMerge(of: other.directory, into: store)
        return try merge.run(where: isWanted)
    }

    private func text(_ store: DiskStore, _ key: String) throws -> String? {
        try store.body(key).map { String(decoding: $0, as: UTF8.self) }
    }

    private var isOtherGone: Bool { access(other.directory, F_OK) != 0 }

    @Test func entriesMoveWithTheirDatesAndTheDirectoryIsRemoved() throws {
        // given
        let old = try other.store()
        for key in ["a", "b.png"] { try old.write(key, Array(key.utf8), http: [1], user: [2]) }
        let name = EntryName(key: "a").full
        let directory = try CacheDirectory.open(other.directory, files: other.files)
        try other.files.setTimes(of: name, in: directory.descriptor, used: 9_000_000, modified: 5_000_000)
        var options = fixture.options
        options.limits.maxAge = nil
        let store = try DiskStore(options: options, files: fixture.files, time: fixture.time)
        _ = try store.totals()
        // when
        #expect(try merge(store) == 2)
        // then
        #expect(try fixture.stat(name, "%Y") == 5 && fixture.stat(name, "%X") == 9)
        #expect(try text(store, "a") == "a" && text(store, "b.png") == "b.png")
        let metadata = try #require(try store.readMetadata("a"))
        #expect(metadata.http == [1] && metadata.user == [2])
        #expect(isOtherGone)
        // The ledger agrees with a count of the files.
        let summed = try store.totals()
        try fixture.files.remove("ledger", in: store.directory.descriptor)
        #expect(try fixture.store().totals() == summed && summed.count == 2)
    }

    @Test func anExistingEntryStays() throws {
        let old = try other.store()
        let store = try fixture.store()
        try old.write("a", Array("theirs".utf8))
        try store.write("a", Array("ours".utf8))
        #expect(try merge(store) == 0)
        #expect(try text(store, "a") == "ours" && isOtherGone)
    }

    @Test func aDamagedFileOfTheSameNameIsReplaced() throws {
        let old = try other.store()
        let store = try fixture.store()
        try old.write("a", Array("theirs".utf8))
        try fixture.put(EntryName(key: "a").full, Array("no entry".utf8))
        #expect(try merge(store) == 1)
        #expect(try text(store, "a") == "theirs")
    }

    @Test func unwantedAndDamagedFilesAreRemoved() throws {
        let old = try other.store()
        let store = try fixture.store()
        for key in ["a", "a\ncaller:1"] { try old.write(key, Array("bytes".utf8)) }
        try other.put(EntryName(key: "damaged").full, Array("no entry".utf8))
        #expect(try merge(store) { $0 == "a" } == 1)
        #expect(try !store.contains("a\ncaller:1") && fixture.entries().count == 1)
        #expect(isOtherGone)
    }

    @Test func anotherProgramsFilesKeepTheDirectory() throws {
        let old = try other.store()
        try old.write("a", Array("bytes".utf8))
        try other.put("notes.txt", Array("mine".utf8))
        // Valid as an entry's name, but not the name of the entry's key.
        let renamed = String(repeating: "0", count: 32)
        _ = try run(["cp", other.directory + "/" + EntryName(key: "a").full, other.directory + "/" + renamed])
        #expect(try merge(fixture.store()) == 1)
        #expect(try Set(other.names()) == ["notes.txt", renamed])
    }

    @Test("entries of another file system are copied with their dates", arguments: [EXDEV, EPERM, EMLINK])
    func copies(code: Int32) throws {
        let old = try other.store()
        try old.write("a", Array("bytes".utf8), user: [7])
        fixture.files.plan = FaultyFiles.Plan(kind: .link, errno: code)
        let store = try fixture.store()
        let stored = try other.stat(EntryName(key: "a").full, "%Y")
        #expect(try merge(store) == 1)
        #expect(try text(store, "a") == "bytes" && store.readMetadata("a")?.user == [7] && isOtherGone)
        #expect(try fixture.stat(EntryName(key: "a").full, "%Y") == stored)
    }

    @Test func noFailingCallLosesAnEntry() throws {
        // given
        let keys = ["a", "b.png", "c"]
        var failed = 0
        for fails in 0... {
            let fixture = try DiskFixture()
            let other = try DiskFixture()
            let old = try other.soundStore()
            for key in keys { try old.write(key, Array(key.utf8)) }
            let store = try fixture.store()
            fixture.files.plan = FaultyFiles.Plan(fails: fails)
            // when
            var isOver = false
            do {
                var merge = try DirectoryMerge(of: other.directory, into: store)
                _ = try merge.run { _ in true }
                isOver = fixture.files.calls <= fails
            } catch {
                failed += 1
            }
            // then
            fixture.files.plan = FaultyFiles.Plan()
            if access(other.directory, F_OK) == 0 {
                var again = try DirectoryMerge(of: other.directory, into: store)
                _ = try again.run { _ in true }
            }
            for key in keys { #expect(try text(store, key) == key, "call \(fails)") }
            #expect(access(other.directory, F_OK) != 0, "call \(fails)")
            if isOver { break }
        }
        #expect(failed > 10 && failed < 1000)
    }

    @Test func theOwnDirectoryIsRecognizedByAnyPath() throws {
        let store = try fixture.store()
        #expect(try DirectoryMerge(of: fixture.directory + "/../cache/.", into: store).isOwnDirectory())
        #expect(throws: CacheError.system(.open, errno: ENOENT)) {
            try DirectoryMerge(of: fixture.directory + "/none", into: store)
        }
    }
}
