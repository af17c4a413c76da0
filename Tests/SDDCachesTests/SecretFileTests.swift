import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCaches

@Suite struct SecretFileTests {
    private func mark(_ store: DiskStore) -> String { store.secret.mark(of: "text") }

    @Test("all stores of a directory have one key, and other directories have others")
    func oneKeyForADirectory() throws {
        let (fixture, other) = (try DiskFixture(), try DiskFixture())
        let first = try fixture.soundStore()
        #expect(try fixture.content("key").count == 32 && fixture.stat("key", "%a") == 600)
        #expect(try mark(first) == mark(fixture.soundStore()))
        #expect(try mark(first) != mark(other.soundStore()))
        #expect(try fixture.names().allSatisfy { !TemporaryName.isOne($0) })
    }

    @Test("a truncated key, or one that others may read, is replaced", arguments: ["truncate -s 31", "chmod 644"])
    func aBadKeyIsReplaced(command: String) throws {
        let fixture = try DiskFixture()
        let before = mark(try fixture.soundStore())
        _ = try run(["sh", "-c", command + " " + fixture.directory + "/key"])
        let after = mark(try fixture.soundStore())
        #expect(after != before)
        #expect(try mark(fixture.soundStore()) == after)
        #expect(try fixture.content("key").count == 32 && fixture.stat("key", "%a") == 600)
    }

    @Test("if many create it at once, all get the same key")
    func manyAtOnce() throws {
        let fixture = try DiskFixture()
        let marks = Monitor<[String]>([])
        let options = fixture.options
        let threads = try (0..<8).map { number in
            try NativeThread(name: "maker-\(number)") {
                let store = try? DiskStore(options: options)
                marks.withLock { $0.append(store?.secret.mark(of: "text") ?? "none") }
            }
        }
        for thread in threads { thread.join() }
        #expect(Set(marks.withLock { $0 }).count == 1 && marks.withLock { $0 } != ["none"])
    }

    @Test("if any call fails, there is still a key, and the file is whole or absent")
    func anyCallMayFail() throws {
        for call in 0..<40 {
            let fixture = try DiskFixture()
            _ = try run(["mkdir", "-m", "700", fixture.directory])
            fixture.files.plan = .init(fails: call, errno: EIO)
            guard let store = try? fixture.store() else { continue }
            #expect(!mark(store).isEmpty)
            fixture.files.plan = .init()
            let again = try fixture.store()
            #expect(try fixture.content("key").count == 32, "call \(call)")
            #expect(try mark(again) == mark(fixture.store()), "call \(call)")
            #expect(try fixture.names().allSatisfy { !TemporaryName.isOne($0) } || call > 0, "call \(call)")
        }
    }

    @Test("where there are no links, the file is renamed into place")
    func withoutLinks() throws {
        let fixture = try DiskFixture()
        fixture.files.plan = .init(kind: .link, errno: EPERM)
        let mark = mark(try fixture.store())
        #expect(try self.mark(fixture.soundStore()) == mark)
    }
}
