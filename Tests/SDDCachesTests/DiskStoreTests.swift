import Glibc
import SDDBase
import SDDCaches
import TestSupport
import Testing

@Suite struct DiskStoreTests {
    private static let key = "https://example.com/a.jpg"
    private static let name = "7cff6e664a8bf6783610a2814043d343.jpg"
    /// An entry of that key, assembled by hand with Python's struct and xxhash.
    private static let file = bytes(
        hex: "ffd868656c6c6f20626f6479ffd900000066667265650000000700060a2418202240000000000000"
            + "000ef44798833ab6e5ee00000019000000020000000368747470733a2f2f6578616d706c652e636f"
            + "6d2f612e6a70674831010203119727a7feb7f4070000006600000002736464656e747279")
    private static let body = [0xff, 0xd8] + Array("hello body".utf8) + [0xff, 0xd9]

    // MARK: Storing

    @Test func readsAnEntryAssembledByHand() throws {
        // given
        var fixture = try DiskFixture()
        fixture.options.limits.maxAge = nil
        let store = try fixture.store()
        try fixture.put(Self.name, Self.file)
        // when
        let entry = try #require(try store.read(Self.key))
        // then
        #expect(Array(entry.body.pointer) == Self.body)
        #expect(
            entry.metadata
                == EntryMetadata(
                    key: Self.key, http: Array("H1".utf8), user: [1, 2, 3], format: 7,
                    storedMicroseconds: 1_700_000_000_123_456))
        #expect(try store.readMetadata(Self.key) == entry.metadata)
        #expect(try store.contains(Self.key))
    }

    @Test func writesTheEntryAssembledByHand() throws {
        let fixture = try DiskFixture()
        fixture.time.setWall(microseconds: 1_700_000_000_123_456)
        let store = try fixture.store()
        let metadata = EntryMetadata(key: Self.key, http: Array("H1".utf8), user: [1, 2, 3], format: 7)
        try Self.body.withUnsafeBytes { try store.write(metadata, body: $0) }
        #expect(try fixture.content(Self.name) == Self.file)
        #expect(store.path(Self.key) == fixture.directory + "/" + Self.name)
        #expect(try fixture.stat(Self.name, "%Y") == 1_700_000_000)
        #expect(try run(["stat", "-c", "%a", store.path(Self.key)]).text == "600\n")
        #expect(try run(["stat", "-c", "%a", fixture.directory]).text == "700\n")
    }

    @Test(arguments: [0, 1, 100, 4095, 4096, 70_000, 3_000_000])
    func returnsBodiesOfAnySize(size: Int) throws {
        // given
        var fixture = try DiskFixture()
        fixture.options.mapFrom = 2_000_000
        let store = try fixture.store()
        let body = randomBytes(size)
        // A trailer that is longer than one read.
        let user = size == 70_000 ? randomBytes(9000) : []
        // when
        try store.write("k", body, user: user)
        // then
        #expect(try store.body("k") == body)
        #expect(try store.readMetadata("k")?.user == user)
        let file = try #require(try store.openBody("k"))
        defer { close(file.descriptor) }
        #expect(file.size == Int64(size))
        var read = [UInt8](repeating: 0, count: size)
        #expect(pread(file.descriptor, &read, size, 0) == size && read == body)
        #expect(fcntl(file.descriptor, F_GETFL) & O_ACCMODE == O_RDONLY)
        #expect(try store.body("other") == nil)
    }

    @Test func aMappedBodyOutlivesItsEntry() throws {
        var fixture = try DiskFixture()
        fixture.options.mapFrom = 0
        let store = try fixture.store()
        let body = randomBytes(100_000)
        try store.write("k", body)
        let entry = try #require(try store.read("k"))
        #expect(try store.remove("k"))
        #expect(Array(entry.body.pointer) == body)
    }

    @Test func aWriteCreatesOneFileAndRenamesIt() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        try store.write("k.png", [1])
        fixture.files.plan = .init()
        try store.write("k.png", [1, 2, 3])
        #expect(fixture.files.names == ["create", "rename " + EntryName(key: "k.png").full])
        #expect(try store.body("k.png") == [1, 2, 3])
        #expect(try fixture.entries().count == 1)
    }

    @Test func shortWritesAreContinued() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        fixture.files.plan.mostWritten = 7
        let body = randomBytes(1000)
        try store.write("k", body)
        #expect(try store.body("k") == body)
    }

    @Test(arguments: [DiskOptions.SyncPolicy.none, .data, .full])
    func writesWithEachPolicy(sync: DiskOptions.SyncPolicy) throws {
        var fixture = try DiskFixture()
        fixture.options.sync = sync
        let store = try fixture.store()
        fixture.files.plan.kind = .sync
        if sync == .none {
            try store.write("k", [1])
        } else {
            #expect(throws: CacheError.system(.sync, errno: EIO)) { try store.write("k", [1]) }
            #expect(try fixture.entries().isEmpty)
        }
    }

    @Test("I5: an entry without extension is found, and removed once one with it is stored")
    func findsTheOtherName() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        fixture.time.setWall(microseconds: 1_700_000_000_123_456)
        let digits = String(Self.name.prefix(32))
        try fixture.put(digits, Self.file)
        fixture.files.plan = .init()
        #expect(try store.body(Self.key) == Self.body)
        try store.write(Self.key, [9])
        #expect(try fixture.entries() == [Self.name])
        try fixture.put(digits, Self.file)
        #expect(try store.remove(Self.key))
        #expect(try fixture.entries().isEmpty)
        #expect(try !store.remove(Self.key))
    }

    @Test("I30: secondary directories are read and never written to")
    func readsSecondaryDirectories() throws {
        // given
        let other = try DiskFixture()
        try other.store().write("k", [1])
        try other.store().write("bad", [2])
        let bad = EntryName(key: "bad").full
        try other.put(bad, Array(try other.content(bad).dropLast()))
        var fixture = try DiskFixture()
        fixture.options.secondaryDirectories = ["/nowhere", other.directory]
        let store = try fixture.store()
        // Entries of secondary directories may be of any age.
        store.limits.maxAge = 0
        // when, then
        #expect(try store.body("k") == [1])
        #expect(try store.body("bad") == nil)
        #expect(try !store.remove("k"))
        #expect(try other.entries().count == 2)
        store.limits.maxAge = nil
        try store.write("k", [3])
        #expect(try store.body("k") == [3])
        #expect(try other.store().body("k") == [1])
    }

    @Test func refusesAnEntryLargerThanTheCache() throws {
        var fixture = try DiskFixture()
        fixture.options.limits.maxBytes = 1000
        let store = try fixture.store()
        #expect(throws: CacheError.tooLarge) { try store.write("k", randomBytes(1000)) }
        store.limits.maxBytes = nil
        try store.write("k", randomBytes(1000))
        #expect(throws: CacheError.tooLarge) { try store.write("k", [], user: [UInt8](repeating: 1, count: 17 << 20)) }
    }

    // MARK: Invalid entries

    @Test func truncatedOrChangedBodiesAreNeverServed() throws {
        var fixture = try DiskFixture()
        fixture.options.limits.maxAge = nil
        let store = try fixture.store()
        for end in 0..<Self.file.count {
            try fixture.put(Self.name, Array(Self.file[..<end]))
            #expect(try store.read(Self.key) == nil, "cut at \(end)")
            #expect(try fixture.entries().isEmpty, "cut at \(end)")
        }
        for bit in 0..<(8 * Self.file.count) {
            var file = Self.file
            file[bit / 8] ^= 1 << UInt8(bit % 8)
            try fixture.put(Self.name, file)
            #expect(try store.read(Self.key) == nil, "bit \(bit)")
            #expect(try store.openBody(Self.key) == nil, "bit \(bit)")
        }
        try fixture.put(Self.name, Self.file + [0])
        #expect(try store.read(Self.key) == nil)
    }

    @Test func anEntryOfAnotherVersionIsAMissAndStays() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        var file = Self.file
        file[file.count - 9] = 1
        try fixture.put(Self.name, file)
        #expect(try store.read(Self.key) == nil)
        #expect(try store.readMetadata(Self.key) == nil)
        #expect(try fixture.entries() == [Self.name])
        try store.write(Self.key, [5])
        #expect(try store.body(Self.key) == [5])
    }

    @Test func anEntryOfAnotherKeyIsAMissAndStays() throws {
        var fixture = try DiskFixture()
        fixture.options.limits.maxAge = nil
        let store = try fixture.store()
        try fixture.put(EntryName(key: "other").full, Self.file)
        #expect(try store.read("other") == nil)
        #expect(try fixture.entries().count == 1)
    }

    @Test func trailersThatClaimGigabytesAreMisses() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        for length: UInt32 in [0, 23, 71, 0x7fff_ffff, .max] {
            var file = Self.file
            for index in 0..<4 { file[file.count - 16 + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
            try fixture.put(Self.name, file)
            #expect(try store.read(Self.key) == nil)
            #expect(try store.readMetadata(Self.key) == nil)
        }
        // A huge file that is empty, and one that ends like an entry.
        _ = try run(["truncate", "-s", "1T", store.path(Self.key)])
        #expect(try store.read(Self.key) == nil)
        try fixture.put(Self.name, Self.file)
        let script = "truncate -s 1T $0; tail -c 102 $1 >> $0"
        try fixture.put("tail", Self.file)
        _ = try run(["sh", "-c", script, store.path(Self.key), fixture.directory + "/tail"])
        #expect(try store.read(Self.key) == nil)
    }

    @Test(arguments: ["ln -s /etc/passwd", "mkfifo", "mkdir", "ln -s ."])
    func anEntryThatIsNotAFileIsAMissAndNeverBlocks(command: String) throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        _ = try run(["sh", "-c", command + " " + store.path(Self.key)])
        #expect(try fixture.entries() == [Self.name])
        #expect(try store.read(Self.key) == nil)
        #expect(try store.openBody(Self.key) == nil)
        #expect(try fixture.entries() == [Self.name])
        if command == "mkdir" {
            #expect(throws: CacheError.system(.rename, errno: EISDIR)) { try store.write(Self.key, [1]) }
            #expect(try fixture.entries() == [Self.name])
        } else {
            try store.write(Self.key, [1])
            #expect(try store.body(Self.key) == [1])
        }
    }

    // MARK: Directories

    @Test func createsParentDirectoriesForThisUserOnly() throws {
        var fixture = try DiskFixture()
        let base = fixture.directory
        fixture.options.directory = base + "/x/y//z/"
        try fixture.store().write("k", [1])
        for path in ["", "/x", "/x/y", "/x/y/z", "/x/y/z/parts", "/x/y/z/locks"] {
            #expect(try run(["stat", "-c", "%a", base + path]).text == "700\n")
        }
        #expect(try fixture.store().body("k") == [1])
    }

    @Test(arguments: ["mkdir -m 777", "mkdir -m 770", "ln -s /tmp"])
    func refusesDirectoriesThatOthersMayWriteTo(command: String) throws {
        let fixture = try DiskFixture()
        _ = try run(["sh", "-c", command + " " + fixture.directory])
        #expect(throws: CacheError.unsafeDirectory) { try fixture.store() }
        #expect(fixture.files.opened == 0)
    }

    @Test func aFileIsNotADirectory() throws {
        let fixture = try DiskFixture()
        _ = try run(["touch", fixture.directory])
        #expect(throws: CacheError.system(.open, errno: ENOTDIR)) { try fixture.store() }
        #expect(fixture.files.opened == 0)
    }

    @Test(.enabled(if: geteuid() == 0, "needs to give a directory away"))
    func refusesDirectoriesOfOthers() throws {
        let fixture = try DiskFixture()
        _ = try run(["sh", "-c", "mkdir $0; chown 12345 $0", fixture.directory])
        #expect(throws: CacheError.unsafeDirectory) { try fixture.store() }
    }

    @Test(arguments: ["", "a\0b", "/proc/nothing/x"])
    func refusesPathsThatCannotBeDirectories(path: String) throws {
        var fixture = try DiskFixture()
        fixture.options.directory = path
        #expect(throws: CacheError.self) { try fixture.store() }
    }

    // MARK: Age and use

    @Test(
        "I6: negative is for ever, 0 is never",
        arguments: [(nil, true), (-1, true), (0, false), (5, true)] as [(Int64?, Bool)])
    func respectsTheAgeLimit(maxAge: Int64?, isServed: Bool) throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        store.limits.maxAge = maxAge
        try store.write("k", [1])
        #expect(try (store.read("k") != nil) == isServed)
        #expect(try store.contains("k") == isServed)
        #expect(try (store.openBody("k").map { close($0.descriptor) } != nil) == isServed)
    }

    @Test func ageCountsFromUseOrFromStoring() throws {
        // given
        let fixture = try DiskFixture()
        let store = try fixture.store()
        store.limits.maxAge = 100_000_000
        try store.write("k", [1])
        // when, then
        fixture.time.advance(microseconds: 99_000_000)
        #expect(try store.body("k") == [1])
        fixture.time.advance(microseconds: 99_000_000)
        store.limits.dates = .stored
        #expect(try store.body("k") == nil)
        store.limits.dates = .used
        // The use is not on disk yet, so another process does not see it.
        #expect(try fixture.soundStore().contains("k"))
        let patient = try fixture.soundStore()
        patient.limits.maxAge = 100_000_000
        #expect(try !patient.contains("k"))
        store.flushUses()
        #expect(try patient.contains("k"))
        #expect(try store.body("k") == [1])
    }

    @Test func usesAreWrittenOnceAndKeepTheStoringTime() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        try store.write("k", [1])
        let name = EntryName(key: "k").full
        let stored = try fixture.stat(name, "%Y")
        fixture.time.advance(microseconds: 90_000_000)
        for _ in 0..<5 { _ = try store.read("k") }
        #expect(try fixture.stat(name, "%X") == stored)
        fixture.files.plan = .init()
        store.flushUses()
        store.flushUses()
        #expect(fixture.files.calls == 1)
        #expect(try fixture.stat(name, "%X") == stored + 90)
        #expect(try fixture.stat(name, "%Y") == stored)
    }

    /// - Parameter isNoted: Whether a use 59 seconds after the last one is written.
    @Test(arguments: [(nil, false), (7 * 86_400, false), (3840, false), (640, true), (-1, false)] as [(Int64?, Bool)])
    func aUseWithinAMinuteOfTheLastIsWrittenOnlyIfAMinuteIsLong(maxAge: Int64?, isNoted: Bool) throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        store.limits.maxAge = maxAge.map { $0 * 1_000_000 }
        let name = EntryName(key: "k").full
        try store.write("k", [1])
        let stored = try fixture.stat(name, "%X")
        fixture.time.advance(microseconds: 59_000_000)
        _ = try store.read("k")
        store.flushUses()
        #expect(try fixture.stat(name, "%X") == stored + (isNoted ? 59 : 0))
    }

    @Test func timesInTheFutureCountAsNow() throws {
        let fixture = try DiskFixture()
        let store = try fixture.store()
        store.limits.maxAge = 1000
        try store.write("k", [1])
        fixture.time.setWall(microseconds: 1000)
        #expect(try store.body("k") == [1])
        for date in [Int64.min, 0, .max] {
            fixture.time.setWall(microseconds: date)
            _ = try store.read("k")
            _ = try store.isTrimDue()
            _ = try store.trim()
        }
    }
}
