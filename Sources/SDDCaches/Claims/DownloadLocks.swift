internal import Glibc
internal import SDDBase
import Synchronization

/// Coordinates downloads among all processes that share a cache: one lock file for each key. It never waits; a process
/// that does not get a key tries again later or downloads the body anyway. Blocking I/O; several threads at a time.
///
/// Each user of the directory has a shared lock on it, so that a user who is alone knows it. Such a user needs no lock
/// files: it marks the keys that it downloads, by locks on the directory that the kernel keeps in memory, for users who
/// come meanwhile.
package final class DownloadLocks: Sendable {
    package enum Answer: Sendable {
        case owned(DownloadClaim)
        /// A living process downloads the key. `lock` is the id of the owner: if it differs the next time, that owner
        /// has released the key and another one has it. A process that takes over from a dead owner keeps the id. 0
        /// means that the id is not known yet.
        case busy(lock: UInt64)
        /// Locks cannot be used in this directory.
        case unavailable
    }

    private let directory: CacheDirectory
    private let time: any TimeSource
    private var files: any FileCalls { directory.files }

    /// The lock that a process holds while it removes or takes over the lock of a dead owner, so that it does not
    /// remove the next owner's lock.
    private static let breakingName = "breaking"
    private static let suffix = ".lock"

    /// Whether a file in the directory is a lock.
    static func isName(_ name: String) -> Bool { name == breakingName || MD5.begins(name, before: suffix) }

    /// The most attempts. Each one fails only because another owner has just released the key.
    private static let attempts = 8
    /// The age in microseconds at which unused locks of dead owners are removed.
    private static let longestKept: Int64 = 10 * 60 * 1_000_000

    /// Whether the system tells who else uses the directory, without waiting for anything.
    private let tellsUsers: Bool
    /// The byte of the directory that each user locks; those of keys follow.
    private static let usersByte: Int64 = 0

    init(_ directory: CacheDirectory, time: any TimeSource) {
        self.directory = directory
        self.time = time
        let isLocked = (try? directory.files.lockShared(directory.descriptor, byte: Self.usersByte)) != nil
        tellsUsers = isLocked && directory.files.isOnLocalDisk(directory.descriptor)
    }

    /// Makes the directory again if it was removed. Marks of keys that are being downloaded are lost with the removed one;
    /// claims have their own files, which are lost too.
    func makeAgain() throws(CacheError) {
        try directory.makeAgain { (new) throws(SystemError) in
            if tellsUsers { try files.lockShared(new.descriptor, byte: Self.usersByte) }
        }
    }

    /// Marks a key, unless anyone else uses the directory now, or that cannot be known. Two system calls that never
    /// wait.
    /// - Returns: nil if the key is to be claimed instead.
    package func markAlone(_ key: String) -> DownloadMark? {
        guard tellsUsers else { return nil }
        let byte = Self.byte(of: key)
        // Marked first: who comes after the second call, finds the mark.
        guard (try? files.lockShared(directory.descriptor, byte: byte)) != nil else { return nil }
        let mark = DownloadMark(byte, directory)
        return isShared ? nil : mark
    }

    /// Whether anyone else uses the directory now; also if that cannot be known. A system call that never waits.
    package var isShared: Bool {
        !tellsUsers || (try? files.isLockedElsewhere(directory.descriptor, byte: Self.usersByte)) != false
    }

    private func isMarkedElsewhere(_ key: String) -> Bool {
        tellsUsers && (try? files.isLockedElsewhere(directory.descriptor, byte: Self.byte(of: key))) == true
    }

    /// Returns the byte of a key. Those of different keys differ but for once in very many.
    private static func byte(of key: String) -> Int64 {
        var key = key
        let sum = key.withUTF8 { XXH64.sum(of: UnsafeRawBufferPointer($0)) }
        return Int64(sum >> 2) + 1
    }

    package func claim(_ key: String) -> Answer {
        if isMarkedElsewhere(key) { return .busy(lock: 0) }
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

    /// Returns the id of the living owner that downloads a key; nil if the key can be claimed. 0 means that the id is
    /// not known yet.
    package func owner(of key: String) -> UInt64? {
        if isMarkedElsewhere(key) { return 0 }
        guard
            let descriptor = try? files.open(MD5.hex(of: key) + Self.suffix, in: directory.descriptor, flags: O_RDWR)
        else { return nil }
        defer { try? files.close(descriptor) }
        let owner = owner(descriptor)
        if owner.process?.isGone ?? false { return nil }
        if isStoring(owner, descriptor) { return owner.number }
        var isHeld = true
        // As in `attempt`, this brief lock must not be mistaken for that of a dead owner's child.
        try? whileNoneBreaks { () throws(SystemError) in
            guard try files.lock(descriptor) else { return }
            isHeld = false
            try files.unlock(descriptor)
        }
        return isHeld ? owner.number : nil
    }

    /// Tries to claim a lock file once. Returns nil if its name means another file by now.
    private func attempt(_ name: String) throws(SystemError) -> Answer? {
        let descriptor = try files.open(name, in: directory.descriptor, flags: O_RDWR | O_CREAT)
        // The claim closes the descriptor in any case.
        let claim = DownloadClaim(descriptor, name, directory)
        var isTaken = false
        defer { if !isTaken { claim.free() } }
        let number = owner(descriptor).number
        var answer: Answer?
        if isStoring(owner(descriptor), descriptor) { return .busy(lock: number) }
        if number == 0 {
            answer = try files.lock(descriptor) ? sign(claim) : .busy(lock: 0)
        } else {
            // The key has an owner: a process that locks the file briefly must not be mistaken for a dead owner's
            // child.
            answer = .busy(lock: number)
            try whileNoneBreaks { () throws(SystemError) in
                let isLocked = try files.lock(descriptor)
                // Since the first check the owner may have closed the file and still own the key.
                if isLocked, isStoring(owner(descriptor), descriptor) { return }
                answer = try isLocked ? sign(claim) : removeIfDead(claim)
            }
        }
        if case .owned? = answer { isTaken = true }
        return answer
    }

    /// Takes ownership of a file that this process has locked. The id of a dead owner stays.
    private func sign(_ claim: DownloadClaim) throws(SystemError) -> Answer? {
        guard try isCurrent(claim.descriptor, claim.name) else { return nil }
        do throws(SystemError) {
            try claim.sign(number: owner(claim.descriptor).number)
            return .owned(claim)
        } catch {
            // A lock file without an owner would block every process.
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
        /// The owner's id; 0 if it has not been written yet.
        var number: UInt64 = 0
        /// True if the owner has the complete body and has closed the file: it owns the key until the file is removed
        /// or the process ends.
        var isStoring = false
    }

    /// Whether the owner has closed the file and still owns the key. A process in another container cannot be checked
    /// and counts as alive for some minutes.
    private func isStoring(_ owner: Owner, _ descriptor: Int32) -> Bool {
        guard owner.isStoring, let process = owner.process, !process.isGone else { return false }
        if process.isSeen { return true }
        guard let status = try? files.status(of: descriptor) else { return true }
        return DiskAge.of(status.modified, at: time.wallMicroseconds()) < Self.longestKept
    }

    /// Reads the owner from the file, since a lock alone does not prove that its owner lives: a child that the owner
    /// has forked holds the same file open.
    private func owner(_ descriptor: Int32) -> Owner {
        var text = [UInt8](repeating: 0, count: 128)
        let count = text.withUnsafeMutableBytes { try? files.read(descriptor, at: 0, into: $0) } ?? 0
        let words = String(decoding: text.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
        guard words.count == 2 || words.count == 3 else { return Owner() }
        return Owner(
            process: ProcessIdentity(String(words[0])), number: UInt64(words[1]) ?? 0,
            isStoring: words.count == 3 && words[2] == DownloadClaim.storingWord)
    }

    /// Removes a file that another process has locked, if its owner is dead: the lock is then held by a child of that
    /// owner.
    private func removeIfDead(_ claim: DownloadClaim) throws(SystemError) -> Answer? {
        let owner = owner(claim.descriptor)
        guard owner.process?.isGone ?? false else { return .busy(lock: owner.number) }
        if try isCurrent(claim.descriptor, claim.name) { try files.remove(claim.name, in: directory.descriptor) }
        return nil
    }

    /// Runs `body` while no other process removes or takes over locks. Does nothing if another process is doing so.
    private func whileNoneBreaks(_ body: () throws(SystemError) -> Void) throws(SystemError) {
        let breaking = try files.open(Self.breakingName, in: directory.descriptor, flags: O_RDWR | O_CREAT)
        defer { try? files.close(breaking) }
        guard try files.lock(breaking) else { return }
        defer { try? files.unlock(breaking) }
        try body()
    }

    /// Removes the locks that dead owners left long ago.
    func trim(now: Int64) {
        var names: [String] = []
        try? files.list(directory.descriptor) { name in
            if MD5.begins(name, before: Self.suffix) { names.append(name) }
            return true
        }
        for name in names {
            guard let status = try? files.status(of: name, in: directory.descriptor), status.kind == .file else {
                continue
            }
            guard DiskAge.of(status.modified, at: now) >= Self.longestKept else { continue }
            // Releasing the claim at once removes its file.
            if case .owned(let claim)? = try? attempt(name) { claim.release() }
        }
    }
}

/// Tells other users of the directory that this one downloads a key. Ends with `release`, with the last reference, or
/// with the process and those that it has forked. Thread-safe.
package final class DownloadMark: Sendable {
    private let byte: Int64
    private let directory: CacheDirectory
    private let isReleased = Atomic(false)

    fileprivate init(_ byte: Int64, _ directory: CacheDirectory) {
        self.byte = byte
        self.directory = directory
    }

    deinit { release() }

    package func release() {
        // Another download of this user may have marked the key since the first call.
        if isReleased.exchange(true, ordering: .acquiringAndReleasing) { return }
        try? directory.files.unlockShared(directory.descriptor, byte: byte)
    }
}

/// The exclusive right to download a key, among all processes. Released by `release` or with the last reference. Holds
/// a descriptor until the body is complete, see `closeWhileStoring`. Thread-safe.
package final class DownloadClaim: Sendable {
    private enum State { case open, storing, released }

    fileprivate let descriptor: Int32
    fileprivate let name: String
    private let directory: CacheDirectory
    private let owner = getpid()
    private let state = Monitor(State.open)
    /// The content of the file.
    private let text = Monitor("")
    fileprivate static let storingWord = "storing"

    fileprivate init(_ descriptor: Int32, _ name: String, _ directory: CacheDirectory) {
        self.descriptor = descriptor
        self.name = name
        self.directory = directory
    }

    deinit { release() }

    /// Writes this owner to the file, so that other processes can tell whether the owner is alive, and whether it is
    /// the one they saw before.
    /// - Parameter number: the id of a dead owner, or 0 for a new id.
    fileprivate func sign(number: UInt64) throws(SystemError) {
        let files = directory.files
        try files.cut(descriptor, to: 0)
        let number = number == 0 ? UInt64.random(in: 1...UInt64.max) : number
        let text = "\(ProcessIdentity.current().text) \(number)"
        guard let line = Bytes(Array(text.utf8)) else { throw SystemError(errno: ENOMEM) }
        _ = try files.write(descriptor, [line.pointer])
        self.text.withLock { $0 = text }
    }

    /// Closes the descriptor while the complete body waits to be written, perhaps for long and with many others. The
    /// content of the file keeps the key for this process. From then on other processes can tell only by the process
    /// identity in it whether the owner has ended.
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

    /// Releases the claim but keeps the file, which belongs to another owner or does not name this one.
    fileprivate func free() { end(removes: false) }

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
        // A forked child has a copy of the claim but must not release it.
        if getpid() == owner {
            if removes { try? files.remove(name, in: directory.descriptor) }
            try? files.unlock(descriptor)
        }
        try? files.close(descriptor)
    }

    /// Removes the file if it still names this claim. A process that took this one for dead may own the key by now.
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
