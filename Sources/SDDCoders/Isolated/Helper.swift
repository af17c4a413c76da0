internal import CHelper
internal import Glibc
internal import SDDBase

/// A process that decodes pictures apart from the application, for instance because a fault of a decoder must not be
/// one of the application's. Nothing that it answers is believed. Used by the thread that a `HelperPool` has given it
/// to.
final class Helper: @unchecked Sendable {
    // Safety: the pool gives a helper to one thread at a time, and its own fields are used with the pool's lock.

    /// The coder's shared object that the helper has loaded; `nil` for the formats of the library.
    let object: String?
    private let process: UnsafeMutablePointer<sddhelper_process>
    private let generation = ForkGeneration.current
    private var body = MappedFile()
    private var pixels = MappedFile()
    /// CPU time after which it gets no more pictures, in microseconds; `nil` means for ever.
    private let life: Int64?
    /// CPU time that its replies have taken, in microseconds.
    private var taken: Int64 = 0
    /// True once the process has ended, or was killed.
    private(set) var isDead = false
    /// True if it had ended before it was asked, so that another one may be asked the same.
    private(set) var wasDead = false

    // Fields of the pool.
    var isBusy = true
    /// True if the process was found to have ended.
    var isGone = false
    /// `isWorn`, as it was when a thread last gave it back.
    var wasWorn = false
    var readers: Set<UInt32> = []
    /// What an idle helper without readers keeps; `nil` if it is not counted.
    var room: (any MemoryReserved)?
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

    /// Starts a helper, and waits until it can decode.
    /// - Throws: `.noDecoder`.
    static func start(_ program: HelperProgram, object: String?) throws(CoderError) -> Helper {
        var process: UnsafeMutablePointer<sddhelper_process>?
        var limits = sddhelper_limits(memory: program.memory, pixels: program.pixels, seconds: program.seconds)
        let error = sddhelper_start(program.path, program.library, &limits, object, &process)
        guard error == 0, let process else {
            // The start opens it for the helper's standard error, and says only that something did not work.
            let place = access("/dev/null", W_OK) == 0 ? "" : "/dev/null: "
            let reason = "\(program.path) could not be started: \(place)\(String(cString: strerror(error)))"
            throw CoderError(.noDecoder, reason, systemError: error)
        }
        let helper = Helper(process, program, object)
        try helper.greet(program)
        return helper
    }

    private init(_ process: UnsafeMutablePointer<sddhelper_process>, _ program: HelperProgram, _ object: String?) {
        (self.process, self.object) = (process, object)
        life = program.life.map { $0 * 1_000_000 }
    }

    deinit {
        body.unmap()
        pixels.unmap()
        end()
        sddhelper_free(process)
    }

    /// Ends the process; in a child of a fork it is the parent's, and goes on.
    @discardableResult private func end() -> Int32 {
        if isDead { return -1 }
        isDead = true
        return generation == ForkGeneration.current ? sddhelper_kill(process) : -1
    }

    private var isUsable: Bool { !isDead && generation == ForkGeneration.current }

    /// Bytes of the files in memory, which stay as large as the largest picture.
    var byteCount: Int { body.count + pixels.count }

    /// True if it has worked so long that it is to end before the kernel ends it.
    var isWorn: Bool { life.map { taken > $0 } ?? false }

    /// Waits for the first packet.
    private func greet(_ program: HelperProgram) throws(CoderError) {
        var hello = sddhelper_hello()
        var patience = HelperPatience.start
        patience.begin(at: Self.now)
        let size = try withUnsafeMutableBytes(of: &hello) { packet throws(CoderError) in
            try receive(packet, &patience, whenOver: .noDecoder)
        }
        guard size > 0 else {
            throw CoderError(.noDecoder, "\(program.path)\(Self.words(for: end()))")
        }
        guard size == MemoryLayout<sddhelper_hello>.size else {
            let text = withUnsafeBytes(of: &hello) { Self.text($0.prefix(Int(size))) }
            throw CoderError(.noDecoder, "\(program.path): \(text)")
        }
        guard hello.magic == UInt32(SDDHELPER_MAGIC), hello.protocol == UInt32(SDDHELPER_PROTOCOL),
            hello.request_size == UInt32(MemoryLayout<sddhelper_request>.size),
            hello.reply_size == UInt32(MemoryLayout<sddhelper_reply>.size)
        else { throw CoderError(.noDecoder, "\(program.path) is of another version than the library") }
        guard hello.flaw == Int32(SDDHELPER_READY.rawValue) else {
            throw CoderError(.noDecoder, "\(program.path): \(withUnsafeBytes(of: hello.reason) { Self.text($0) })")
        }
    }

    /// Sends a request, with bytes of a body, and waits for the reply.
    /// - Throws: `.decoder`, `.noDecoder` or `.tooSlow` if the helper gives none in time, and has therefore been killed.
    func ask(
        _ request: sddhelper_request, _ piece: UnsafeRawBufferPointer, _ limits: DecodeLimits
    ) throws(CoderError) -> sddhelper_reply {
        guard isUsable else { throw CoderError(.decoder, "it has ended") }
        var request = request
        request.count = UInt64(piece.count)
        try put(piece)
        let begin = Self.now
        var patience = HelperPatience(limits, byteCount: piece.count)
        patience.begin(at: begin)
        wasDead = try !send(&request, &patience)
        var reply = sddhelper_reply()
        if wasDead { throw death() }
        let size = try withUnsafeMutableBytes(of: &reply) { packet throws(CoderError) in
            try receive(packet, &patience, whenOver: .tooSlow)
        }
        guard size <= 0 || size == Int64(MemoryLayout<sddhelper_reply>.size) else {
            end()
            throw CoderError(.decoder, "its answer has \(size) bytes")
        }
        guard size > 0 else { throw death() }
        let elapsed = Self.now - begin
        reply.cpu_time = min(max(reply.cpu_time, elapsed / 4), elapsed)
        taken += reply.cpu_time
        sddhelper_add_time(reply.cpu_time)
        return reply
    }

    /// Sends a request that has no reply. Never waits.
    /// - Returns: false if there is no room for it now.
    func tell(_ request: sddhelper_request) -> Bool {
        guard isUsable else { return true }
        return withUnsafeBytes(of: request) {
            sddhelper_send(process.pointee.socket, $0.baseAddress, UInt64($0.count), false) != EAGAIN
        }
    }

    /// Copies bytes to the file that the helper reads.
    private func put(_ piece: UnsafeRawBufferPointer) throws(CoderError) {
        guard let source = piece.baseAddress, piece.count > 0 else { return }
        let file = process.pointee.body
        if piece.count > body.count {
            let size = (piece.count + Self.step - 1) / Self.step * Self.step
            guard ftruncate(file, size) == 0, body.map(file, size, PROT_READ | PROT_WRITE) else {
                throw CoderError(.noMemory, "\(piece.count) bytes for the process that decodes")
            }
        }
        body.base?.copyMemory(from: source, byteCount: piece.count)
    }

    private static let step = 1 << 20

    // MARK: - Time

    /// - Returns: false if the helper has ended.
    private func send(_ request: inout sddhelper_request, _ patience: inout HelperPatience) throws(CoderError) -> Bool {
        while true {
            let error = withUnsafeBytes(of: &request) {
                sddhelper_send(process.pointee.socket, $0.baseAddress, UInt64($0.count), true)
            }
            guard error == EAGAIN else { return error == 0 }
            try goOn(&patience, whenOver: .tooSlow)
        }
    }

    /// Waits for a packet.
    /// - Returns: its size, or 0 or less if none will come.
    private func receive(
        _ packet: UnsafeMutableRawBufferPointer, _ patience: inout HelperPatience, whenOver kind: CoderError.Kind
    ) throws(CoderError) -> Int64 {
        while true {
            let size = sddhelper_receive(process.pointee.socket, packet.baseAddress, UInt64(packet.count))
            if size != -1 { return size }
            try goOn(&patience, whenOver: kind)
        }
    }

    /// Looks whether to go on waiting.
    /// - Throws: if the helper was over time, or nobody waits for its answer, and it has therefore been killed.
    private func goOn(_ patience: inout HelperPatience, whenOver kind: CoderError.Kind) throws(CoderError) {
        if DecodeStop.current?.isStopped == true {
            end()
            throw CoderError(.noDecoder, "nobody waits for the picture any more")
        }
        guard patience.isOver(at: Self.now, cpuTime: sddhelper_cpu_time(process.pointee.pid)) else { return }
        end()
        throw CoderError(kind, "the process that decodes was killed")
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    // MARK: - The end

    /// Returns the error of a helper that has ended while it decoded. The picture is to blame unless the process was
    /// killed: by another process, or for lack of memory in the machine.
    private func death() -> CoderError {
        let signal = end()
        let isKilled = signal == SIGKILL || signal == SIGTERM
        return CoderError(isKilled ? .noDecoder : .decoder, "it\(Self.words(for: signal))")
    }

    /// - Parameter signal: see `sddhelper_kill`.
    private static func words(for signal: Int32) -> String {
        switch signal {
        case 0: " ended before it had answered"
        case 1...: " was ended by signal \(signal)"
        default: " has ended"
        }
    }

    /// Returns bytes as a text that may be in a message: the printable characters of ASCII up to the first zero.
    private static func text(_ bytes: some Sequence<UInt8>) -> String {
        let printable = bytes.prefix { $0 != 0 }.map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }
        return String(decoding: printable, as: UTF8.self)
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

    /// Returns a copy of the colour profile of a reply; `nil` if there is none.
    /// - Throws: `.decoder` if it is not in the helper's file.
    func profile(of reply: sddhelper_reply) throws(CoderError) -> Bytes? {
        if reply.profile_size == 0 { return nil }
        let (end, isTooFar) = reply.profile_offset.addingReportingOverflow(reply.profile_size)
        guard reply.profile_size <= UInt64(ColourDescription.largestProfile), !isTooFar, end <= UInt64(Int64.max),
            try map(Int(end)), let base = pixels.base
        else { throw CoderError(.decoder, "it answered with a profile that it does not have") }
        let place = UnsafeRawBufferPointer(start: base + Int(reply.profile_offset), count: Int(reply.profile_size))
        guard let copy = Bytes(copying: place) else { throw CoderError(.noMemory, "\(place.count) bytes of a profile") }
        return copy
    }

    private func map(_ end: Int) throws(CoderError) -> Bool {
        if end <= pixels.count { return true }
        let file = process.pointee.pixels
        let size = Self.size(file)
        guard end <= size else { return false }
        guard pixels.map(file, size, PROT_READ) else {
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
    /// The error that a helper has answered. That it could not be started is not for it to say.
    init(_ reply: sddhelper_reply) {
        let reason = withUnsafeBytes(of: reply.reason) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let kind = Kind(rawValue: reply.error) ?? .decoder
        self.init(kind == .noDecoder ? .decoder : kind, reason)
    }
}
