internal import CHelper
internal import Glibc
internal import SDDBase

/// The program that decodes, and what it may take. A value.
package struct HelperProgram: Sendable {
    /// The program sdd-decoder.
    package let path: String
    /// The file of this library, which the program loads.
    let library: String
    /// Bytes of memory that it may take; 0 means no limit.
    let memory: UInt64

    package init(path: String, library: String, memory: UInt64) {
        (self.path, self.library, self.memory) = (path, library, memory)
    }
}

/// A process that decodes pictures apart from the application, for instance because a fault of a decoder must not be
/// one of the application's. Nothing that it answers is believed. Used by the thread that a `HelperPool` has given it
/// to.
final class Helper: @unchecked Sendable {
    // Safety: the pool gives a helper to one thread at a time, and its own fields are used with the pool's lock.

    /// The coder's shared object that the helper has loaded; `nil` for the formats of the library.
    let object: String?
    private var process: sddhelper_process
    private let generation = ForkGeneration.current
    private var body = MappedFile()
    private var pixels = MappedFile()
    /// True once the process has ended, or was killed.
    private(set) var isDead = false
    /// True if it had ended before it was asked, so that another one may be asked the same.
    private(set) var wasDead = false

    /// How long the socket waits for a reply, see `sddhelper_set_patience`.
    private var patience: Int32 = -1

    // Fields of the pool.
    var isBusy = true
    /// True if the process was found to have ended.
    var isGone = false
    var readers: Set<UInt32> = []
    var closing: [UInt32] = []

    /// A shared mapping of a file in memory.
    private struct MappedFile {
        var base: UnsafeMutableRawPointer?
        var count = 0

        mutating func map(_ file: Int32, _ size: Int, _ access: Int32) -> Bool {
            unmap()
            guard let mapped = mmap(nil, size, access, MAP_SHARED, file, 0), mapped != MAP_FAILED else { return false }
            (base, count) = (mapped, size)
            return true
        }

        mutating func unmap() {
            if count > 0 { munmap(base, count) }
            (base, count) = (nil, 0)
        }
    }

    init(_ program: HelperProgram, object: String?) throws(CoderError) {
        self.object = object
        process = sddhelper_process()
        let error = sddhelper_start(program.path, program.library, program.memory, object, &process)
        guard error == 0 else {
            throw CoderError(.decoder, "\(program.path) could not be started: \(String(cString: strerror(error)))")
        }
    }

    deinit {
        body.unmap()
        pixels.unmap()
        end()
    }

    /// Ends the process, or forgets it in a child of a fork, since it is not the child's.
    @discardableResult private func end() -> Int32 {
        if isDead { return -1 }
        isDead = true
        if generation == ForkGeneration.current { return sddhelper_kill(&process) }
        sddhelper_close(&process)
        return -1
    }

    /// Bytes of the files in memory, which stay as large as the largest picture.
    var byteCount: Int { body.count + pixels.count }

    /// Sends a request, with bytes of a body, and waits for the reply.
    /// - Throws: `.decoder` if the helper gives none in time, and has therefore been killed.
    func ask(
        _ request: sddhelper_request, _ piece: UnsafeRawBufferPointer, _ limits: DecodeLimits
    ) throws(CoderError) -> sddhelper_reply {
        guard !isDead, generation == ForkGeneration.current else { throw CoderError(.decoder, "it has ended") }
        var request = request
        request.count = UInt64(piece.count)
        try put(piece)
        let begin = Self.now
        let error = withUnsafeBytes(of: &request) {
            sddhelper_send(process.socket, $0.baseAddress, UInt64($0.count))
        }
        wasDead = error != 0
        let reply = error == 0 ? try receive(within: Self.patience(limits, piece.count)) : nil
        guard var reply else { throw death() }
        let elapsed = Self.now - begin
        reply.cpu_time = min(max(reply.cpu_time, elapsed / 4), elapsed)
        sddhelper_add_time(reply.cpu_time)
        return reply
    }

    /// Sends a request that has no reply.
    func tell(_ request: sddhelper_request) {
        guard !isDead, generation == ForkGeneration.current else { return }
        withUnsafeBytes(of: request) { _ = sddhelper_send(process.socket, $0.baseAddress, UInt64($0.count)) }
    }

    /// Copies bytes to the file that the helper reads.
    private func put(_ piece: UnsafeRawBufferPointer) throws(CoderError) {
        guard let source = piece.baseAddress, piece.count > 0 else { return }
        if piece.count > body.count {
            let size = (piece.count + Self.step - 1) / Self.step * Self.step
            // The helper may have made the file larger, which cannot be undone.
            _ = ftruncate(process.body, size)
            guard Self.size(process.body) >= size, body.map(process.body, size, PROT_READ | PROT_WRITE) else {
                throw CoderError(.noMemory, "\(piece.count) bytes for the process that decodes")
            }
        }
        body.base?.copyMemory(from: source, byteCount: piece.count)
    }

    private static let step = 1 << 20

    // MARK: - Time

    /// Returns how long, in milliseconds, a helper may be silent before anybody looks what it does; -1 means for ever.
    private static func patience(_ limits: DecodeLimits, _ byteCount: Int) -> Int32 {
        let (base, perMiB) = limits.microseconds
        guard base > 0 else { return -1 }
        let more = (perMiB >> 10).multipliedReportingOverflow(by: Int64(byteCount >> 10))
        let budget = (base + min(more.overflow ? .max : more.partialValue, 1 << 50)) / 1000
        // Rounded, so that it is seldom set.
        return Int32(clamping: (2 * budget / 4000 + 1) * 4000)
    }

    /// Waits for a reply; kills the helper if it is over time. Its own clock is the same as in this process, CPU time,
    /// so that it is over time only if it is taken over, or stuck in the code of a coder. Whether that is so, or the
    /// machine is busy, is decided by the CPU time that it has taken meanwhile.
    private func receive(within patience: Int32) throws(CoderError) -> sddhelper_reply? {
        var reply = sddhelper_reply()
        var taken: Int64?
        if patience != self.patience, sddhelper_set_patience(process.socket, patience) == 0 { self.patience = patience }
        for _ in 0..<Self.mostRounds {
            let size = withUnsafeMutableBytes(of: &reply) {
                sddhelper_receive(process.socket, $0.baseAddress, UInt64($0.count))
            }
            if size == Int64(MemoryLayout<sddhelper_reply>.size) { return reply }
            guard size == -1 else { return nil }
            let now = sddhelper_cpu_time(process.pid)
            if let taken, now < 0 || now - taken < Self.least || (now - taken) * 2000 > Int64(patience) * 1_000_000 {
                break
            }
            taken = now
        }
        end()
        throw CoderError(.tooSlow, "the process that decodes was killed")
    }

    private static let mostRounds = 20
    /// CPU time in microseconds; a process that takes less in one round is blocked.
    private static let least: Int64 = 10_000

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    private func death() -> CoderError {
        switch end() {
        case 0: CoderError(.decoder, "it ended before it had answered")
        case let signal where signal > 0: CoderError(.decoder, "it was ended by signal \(signal)")
        default: CoderError(.decoder)
        }
    }

    // MARK: - Pixels

    /// Returns the rows of a reply in the helper's file.
    /// - Parameter rowBytes: the bytes of each row that are used.
    /// - Throws: `.decoder` if they are not all in the file.
    func rows(of reply: sddhelper_reply, rowBytes: Int) throws(CoderError) -> UnsafeRawPointer {
        let height = UInt64(UInt32(max(reply.height, 0)))
        let (size, isTooLarge) = reply.stride.multipliedReportingOverflow(by: height)
        let (end, isTooFar) = size.addingReportingOverflow(reply.offset)
        guard reply.has_pixels, height > 0, rowBytes > 0, reply.stride >= UInt64(rowBytes), !isTooLarge, !isTooFar,
            end <= UInt64(Int64.max), try map(Int(end)), let base = pixels.base
        else { throw CoderError(.decoder, "it answered with pixels that it does not have") }
        return UnsafeRawPointer(base + Int(reply.offset))
    }

    private func map(_ end: Int) throws(CoderError) -> Bool {
        if end <= pixels.count { return true }
        let size = Self.size(process.pixels)
        guard end <= size else { return false }
        guard pixels.map(process.pixels, size, PROT_READ) else {
            throw CoderError(.noMemory, "\(size) bytes of pixels")
        }
        return true
    }

    /// Returns the size of a file in memory. It never becomes smaller.
    private static func size(_ file: Int32) -> Int {
        var status = stat()
        return fstat(file, &status) == 0 ? Int(status.st_size) : 0
    }
}

extension CoderError {
    /// The error that a helper has answered.
    init(_ reply: sddhelper_reply) {
        let reason = withUnsafeBytes(of: reply.reason) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        self.init(Kind(rawValue: reply.error) ?? .decoder, reason)
    }
}
