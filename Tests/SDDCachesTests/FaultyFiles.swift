import Glibc
import SDDBase
import SDDCaches

/// The system's calls, of which one or all of a kind can be made to fail, for tests of damage and full disks. Callable
/// from any thread.
final class FaultyFiles: FileCalls {
    enum Kind: Sendable {
        case open, close, read, write, cut, sync, map, lock, status, times, rename, link, remove, make, list
    }

    struct Plan: Sendable {
        /// The number of the call that fails, counted from 0 over all kinds.
        var fails: Int?
        /// All calls of this kind fail.
        var kind: Kind?
        var errno: Int32 = EIO
        /// The most bytes that one write takes.
        var mostWritten = Int.max
        var isOnLocalDisk = true
        /// Called before each call, without the lock: it may block.
        var before: (@Sendable (Kind) -> Void)?
        /// Called after each rename, likewise.
        var afterRename: (@Sendable () -> Void)?
    }

    private struct State {
        var plan = Plan()
        var calls = 0
        var opened = 0
        var names: [String] = []
        var wrongCloses = 0
        var beforeRead: (@Sendable () -> Void)?
    }

    private let state = Monitor(State(), rank: .memory)  // files are written while locks are held
    private let system = SystemFiles()

    init(_ plan: Plan = Plan()) { self.plan = plan }

    /// The plan; setting it resets the counters.
    var plan: Plan {
        get { state.withLock { $0.plan } }
        set { state.withLock { $0 = State(plan: newValue) } }
    }

    var calls: Int { state.withLock { $0.calls } }
    /// The number of descriptors that are open.
    var opened: Int { state.withLock { $0.opened } }
    /// The files created and renamed.
    var names: [String] { state.withLock { $0.names } }

    /// The number of closes of descriptors that were not open, which could next time be another's.
    var wrongCloses: Int { state.withLock { $0.wrongCloses } }
    /// Sets an action that runs just before the next read, as if another process did it.
    func onRead(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforeRead = body } }

    private func pass(_ kind: Kind) throws(SystemError) {
        plan.before?(kind)
        let code: Int32? = state.withLock { state in
            defer { state.calls += 1 }
            return state.plan.fails == state.calls || state.plan.kind == kind ? state.plan.errno : nil
        }
        if let code { throw SystemError(errno: code) }
    }

    func open(_ name: String, in directory: Int32, flags: Int32) throws(SystemError) -> Int32 {
        try pass(.open)
        let descriptor = try system.open(name, in: directory, flags: flags)
        state.withLock { state in
            state.opened += 1
            if flags & O_EXCL != 0 { state.names.append("create") }
        }
        return descriptor
    }

    func close(_ descriptor: Int32) throws(SystemError) {
        // The descriptor is closed even so, as by the system.
        do throws(SystemError) {
            try system.close(descriptor)
        } catch {
            state.withLock { $0.wrongCloses += 1 }
            throw error
        }
        state.withLock { $0.opened -= 1 }
        try pass(.close)
    }

    func replace(_ descriptor: Int32, by other: Int32) throws(SystemError) {
        try pass(.open)
        try system.replace(descriptor, by: other)
    }

    func read(
        _ descriptor: Int32, at offset: Int64, into place: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        try pass(.read)
        let happens = state.withLock { state in
            defer { state.beforeRead = nil }
            return state.beforeRead
        }
        happens?()
        return try system.read(descriptor, at: offset, into: place)
    }

    func write(_ descriptor: Int32, _ parts: [UnsafeRawBufferPointer]) throws(SystemError) -> Int {
        try pass(.write)
        let most = plan.mostWritten
        guard most < .max, let first = parts.first else { return try system.write(descriptor, parts) }
        return try system.write(descriptor, [UnsafeRawBufferPointer(rebasing: first.prefix(most))])
    }

    func cut(_ descriptor: Int32, to size: Int64) throws(SystemError) {
        try pass(.cut)
        try system.cut(descriptor, to: size)
    }

    func sync(_ descriptor: Int32, dataOnly: Bool) throws(SystemError) {
        try pass(.sync)
        try system.sync(descriptor, dataOnly: dataOnly)
    }

    func map(_ descriptor: Int32, length: Int) throws(SystemError) -> UnsafeMutableRawPointer {
        try pass(.map)
        return try system.map(descriptor, length: length)
    }

    func lock(_ descriptor: Int32) throws(SystemError) -> Bool {
        try pass(.lock)
        return try system.lock(descriptor)
    }

    func unlock(_ descriptor: Int32) throws(SystemError) { try system.unlock(descriptor) }

    func lockShared(_ descriptor: Int32, byte: Int64) throws(SystemError) {
        try pass(.lock)
        try system.lockShared(descriptor, byte: byte)
    }

    func unlockShared(_ descriptor: Int32, byte: Int64) throws(SystemError) {
        try system.unlockShared(descriptor, byte: byte)
    }

    func isLockedElsewhere(_ descriptor: Int32, byte: Int64) throws(SystemError) -> Bool {
        try pass(.lock)
        return try system.isLockedElsewhere(descriptor, byte: byte)
    }

    func isOnLocalDisk(_ descriptor: Int32) -> Bool { plan.isOnLocalDisk }

    func status(of descriptor: Int32) throws(SystemError) -> FileStatus {
        try pass(.status)
        return try system.status(of: descriptor)
    }

    func status(of name: String, in directory: Int32) throws(SystemError) -> FileStatus {
        try pass(.status)
        return try system.status(of: name, in: directory)
    }

    func setTimes(of descriptor: Int32, used: Int64?, modified: Int64?) throws(SystemError) {
        try pass(.times)
        try system.setTimes(of: descriptor, used: used, modified: modified)
    }

    func setTimes(of name: String, in directory: Int32, used: Int64?, modified: Int64?) throws(SystemError) {
        try pass(.times)
        try system.setTimes(of: name, in: directory, used: used, modified: modified)
    }

    func rename(_ name: String, to newName: String, in directory: Int32) throws(SystemError) {
        try pass(.rename)
        try system.rename(name, to: newName, in: directory)
        state.withLock { $0.names.append("rename " + newName) }
        plan.afterRename?()
    }

    func link(
        _ name: String, in directory: Int32, as newName: String, in newDirectory: Int32
    ) throws(SystemError) {
        try pass(.link)
        try system.link(name, in: directory, as: newName, in: newDirectory)
    }

    func remove(_ name: String, in directory: Int32) throws(SystemError) {
        try pass(.remove)
        try system.remove(name, in: directory)
    }

    func makeDirectory(_ name: String, in directory: Int32) throws(SystemError) {
        try pass(.make)
        try system.makeDirectory(name, in: directory)
    }

    func removeDirectory(_ name: String, in directory: Int32) throws(SystemError) {
        try pass(.remove)
        try system.removeDirectory(name, in: directory)
    }

    func listing(_ directory: Int32) throws(SystemError) -> DirectoryListing {
        try pass(.list)
        return try system.listing(directory)
    }
}
