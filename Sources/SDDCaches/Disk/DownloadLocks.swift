internal import Glibc
internal import SDDBase

/// Who downloads what, among all processes that share a cache: a locked file for each key. Nobody waits here: who does
/// not get a key asks again later, or downloads it all the same. Blocking; several threads at a time.
package final class DownloadLocks: Sendable {
    package enum Answer: Sendable {
        case owned(DownloadClaim)
        /// Somebody downloads it, who is alive. Where the number is another one next time, that owner has let go, and
        /// this is the next; who takes over from a dead one keeps its number. 0: not known yet.
        case busy(lock: UInt64)
        /// There are no locks to be had here.
        case unavailable
    }

    private let directory: CacheDirectory
    private let time: any TimeSource
    private var files: any FileCalls { directory.files }

    /// Who removes the lock of a dead owner, or takes it over, holds this one, so that none removes the next owner's.
    private static let breakingName = "breaking"
    private static let suffix = ".lock"
    /// Each attempt meets another owner who has just let go.
    private static let attempts = 8
    /// For locks that dead owners left and nobody has asked for since.
    private static let longestKept: Int64 = 10 * 60 * 1_000_000

    init(_ directory: CacheDirectory, time: any TimeSource) {
        self.directory = directory
        self.time = time
    }

    package func claim(_ key: String) -> Answer {
        let name = MD5.hex(of: key) + Self.suffix
        do throws(SystemError) {
            for _ in 0..<Self.attempts {
                if let answer = try attempt(name) { return answer }
            }
            return .busy(lock: 0)
        } catch {
            return .unavailable
        }
    }

    /// The number of who downloads a key, and is alive; nil where nobody does, and it can be claimed. 0: not known yet.
    package func owner(of key: String) -> UInt64? {
        guard
            let descriptor = try? files.open(MD5.hex(of: key) + Self.suffix, in: directory.descriptor, flags: O_RDWR)
        else { return nil }
        defer { try? files.close(descriptor) }
        let owner = owner(descriptor)
        if owner.process?.isGone ?? false { return nil }
        if isStoring(owner, descriptor) { return owner.number }
        var isHeld = true
        // As for who claims: nobody is to take this look for the lock of a dead owner's child.
        try? whileNoneBreaks { () throws(SystemError) in
            guard try files.lock(descriptor) else { return }
            isHeld = false
            try files.unlock(descriptor)
        }
        return isHeld ? owner.number : nil
    }

    /// Nil: the file is another one by now.
    private func attempt(_ name: String) throws(SystemError) -> Answer? {
        let descriptor = try files.open(name, in: directory.descriptor, flags: O_RDWR | O_CREAT)
        // Closes it in any case.
        let claim = DownloadClaim(descriptor, name, directory)
        var isTaken = false
        defer { if !isTaken { claim.letGo() } }
        let number = owner(descriptor).number
        var answer: Answer?
        if isStoring(owner(descriptor), descriptor) { return .busy(lock: number) }
        if number == 0 {
            answer = try files.lock(descriptor) ? sign(claim) : .busy(lock: 0)
        } else {
            // Somebody's already: whoever locks it for a moment must not be taken for a child of a dead owner.
            answer = .busy(lock: number)
            try whileNoneBreaks { () throws(SystemError) in
                let isLocked = try files.lock(descriptor)
                // It may have closed the file, and have it still, since it was looked at.
                if isLocked, isStoring(owner(descriptor), descriptor) { return }
                answer = try isLocked ? sign(claim) : removeIfDead(claim)
            }
        }
        if case .owned? = answer { isTaken = true }
        return answer
    }

    /// Of a file that is locked. A dead owner's number stays.
    private func sign(_ claim: DownloadClaim) throws(SystemError) -> Answer? {
        guard try isCurrent(claim.descriptor, claim.name) else { return nil }
        do throws(SystemError) {
            try claim.sign(number: owner(claim.descriptor).number)
            return .owned(claim)
        } catch {
            // What says nothing is in everybody's way.
            claim.release()
            throw error
        }
    }

    /// Whether the name still means the open file.
    private func isCurrent(_ descriptor: Int32, _ name: String) throws(SystemError) -> Bool {
        let own = try files.status(of: descriptor)
        do throws(SystemError) {
            return try files.status(of: name, in: directory.descriptor).isSameFile(as: own)
        } catch {
            if error.errno == ENOENT { return false }
            throw error
        }
    }

    private struct Owner {
        var process: ProcessIdentity?
        /// 0: it is about to write its name.
        var number: UInt64 = 0
        /// It has the body, and has closed the file: it has the key until the file goes, or the process.
        var isStoring = false
    }

    /// Whether the key is somebody's though nobody holds the file open. A process in another container cannot be seen:
    /// it counts as living for some minutes.
    private func isStoring(_ owner: Owner, _ descriptor: Int32) -> Bool {
        guard owner.isStoring, let process = owner.process, !process.isGone else { return false }
        if process.namespace != 0, process.namespace == ProcessIdentity.current().namespace { return true }
        guard let status = try? files.status(of: descriptor) else { return true }
        return DiskAge.of(status.modified, at: time.wallMicroseconds()) < Self.longestKept
    }

    /// A lock outlives its owner if that has forked a child, which holds the same file open.
    private func owner(_ descriptor: Int32) -> Owner {
        var text = [UInt8](repeating: 0, count: 128)
        let count = text.withUnsafeMutableBytes { try? files.read(descriptor, at: 0, into: $0) } ?? 0
        let words = String(decoding: text.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
        guard words.count == 2 || words.count == 3 else { return Owner() }
        return Owner(
            process: ProcessIdentity(String(words[0])), number: UInt64(words[1]) ?? 0,
            isStoring: words.count == 3 && words[2] == DownloadClaim.storingWord)
    }

    /// Of a file that somebody else has locked: its owner, or a child that the owner has left.
    private func removeIfDead(_ claim: DownloadClaim) throws(SystemError) -> Answer? {
        let owner = owner(claim.descriptor)
        guard owner.process?.isGone ?? false else { return .busy(lock: owner.number) }
        if try isCurrent(claim.descriptor, claim.name) { try files.remove(claim.name, in: directory.descriptor) }
        return nil
    }

    /// Not at all if somebody else is at it.
    private func whileNoneBreaks(_ body: () throws(SystemError) -> Void) throws(SystemError) {
        let breaking = try files.open(Self.breakingName, in: directory.descriptor, flags: O_RDWR | O_CREAT)
        defer { try? files.close(breaking) }
        guard try files.lock(breaking) else { return }
        defer { try? files.unlock(breaking) }
        try body()
    }

    /// Removes what dead owners left long ago.
    func trim(now: Int64) {
        var names: [String] = []
        try? files.list(directory.descriptor) { name in
            if name.utf8.suffix(Self.suffix.utf8.count).elementsEqual(Self.suffix.utf8) { names.append(name) }
            return true
        }
        for name in names {
            guard let status = try? files.status(of: name, in: directory.descriptor), status.kind == .file else {
                continue
            }
            guard DiskAge.of(status.modified, at: now) >= Self.longestKept else { continue }
            // A claim that is let go at once takes its file along.
            if case .owned(let claim)? = try? attempt(name) { claim.release() }
        }
    }
}

/// The right to download a key, among all processes. Given back by `release`, or with the last reference. Holds a
/// descriptor until the body is there, see `closeWhileStoring`. Any thread.
package final class DownloadClaim: Sendable {
    private enum State { case open, storing, released }

    fileprivate let descriptor: Int32
    fileprivate let name: String
    private let directory: CacheDirectory
    private let owner = getpid()
    private let state = Monitor(State.open)
    /// What the file says.
    private let text = Monitor("")
    fileprivate static let storingWord = "storing"

    fileprivate init(_ descriptor: Int32, _ name: String, _ directory: CacheDirectory) {
        self.descriptor = descriptor
        self.name = name
        self.directory = directory
    }

    deinit { release() }

    /// For others to see whether the owner lives, and whether it is still the one they have seen.
    /// - Parameter number: that of a dead owner, or 0.
    fileprivate func sign(number: UInt64) throws(SystemError) {
        let files = directory.files
        try files.cut(descriptor, to: 0)
        let number = number == 0 ? UInt64.random(in: 1...UInt64.max) : number
        let text = "\(ProcessIdentity.current().text) \(number)"
        guard let line = Bytes(Array(text.utf8)) else { throw SystemError(errno: ENOMEM) }
        _ = try files.write(descriptor, [line.pointer])
        self.text.withLock { $0 = text }
    }

    /// The body is there, and waits to be written, perhaps for long and with many others: the key stays this process's by
    /// what the file says, without a descriptor. A process that has ended is known by its name alone from then on.
    package func closeWhileStoring() {
        state.withLock { state in
            guard state == .open, getpid() == owner, let word = Bytes(Array((" " + Self.storingWord).utf8)),
                (try? directory.files.write(descriptor, [word.pointer])) == word.count
            else { return }
            state = .storing
            try? directory.files.unlock(descriptor)
            try? directory.files.close(descriptor)
        }
    }

    package func release() { end(removes: true) }

    /// Without the file, which is not this one's, or says nothing of it.
    fileprivate func letGo() { end(removes: false) }

    private func end(removes: Bool) {
        let before = state.withLock { state in
            defer { state = .released }
            return state
        }
        let files = directory.files
        switch before {
        case .open: break
        case .storing: return removeIfOwn()
        case .released: return
        }
        // A forked child has a copy, and no say.
        if getpid() == owner {
            if removes { try? files.remove(name, in: directory.descriptor) }
            try? files.unlock(descriptor)
        }
        try? files.close(descriptor)
    }

    /// Whoever took this process for dead may have the name by now.
    private func removeIfOwn() {
        guard getpid() == owner else { return }
        let files = directory.files
        guard let descriptor = try? files.open(name, in: directory.descriptor, flags: O_RDONLY) else { return }
        defer { try? files.close(descriptor) }
        let own = Array((text.withLock { $0 } + " " + Self.storingWord).utf8)
        var found = [UInt8](repeating: 0, count: own.count + 1)
        let count = found.withUnsafeMutableBytes { try? files.read(descriptor, at: 0, into: $0) }
        if count == own.count, found.dropLast() == own[...] { try? files.remove(name, in: directory.descriptor) }
    }
}
