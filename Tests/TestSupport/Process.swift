import Glibc
import SDDBase

/// The exit code and output of a command.
package struct CommandResult: Sendable {
    /// The exit code, or minus the number of the signal that ended it.
    package let status: Int32
    /// Standard output, including standard error if `run` was told to merge them.
    package let output: [UInt8]

    package var text: String { String(decoding: output, as: UTF8.self) }
}

/// Runs a command until it exits, with /dev/null as its input.
/// - Parameter mergesErrors: Whether `output` includes standard error, which otherwise goes to ours.
package func run(_ command: [String], mergesErrors: Bool = false) throws(TestSupportFailure) -> CommandResult {
    let output = try Pipe()
    let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(input) }
    let process = try spawn(
        command, input: input, output: output.writing, errors: mergesErrors ? output.writing : STDERR_FILENO)
    output.closeWriting()
    let bytes = output.readToEnd()
    return CommandResult(status: waitFor(process), output: bytes)
}

/// A program that runs beside the test. It ends with `stop()`, with the last reference, and in any case with this
/// process, however that ends. Callable from any thread.
package final class ChildProcess: Sendable {
    private let guardian: pid_t
    private let life: Pipe
    private let output: Pipe
    private let isRunning = Monitor(true)

    /// Starts the program as the child of a shell that waits for the end of its input, which only this process holds
    /// open: so even a crash does not leave the program behind.
    package init(_ command: [String]) throws(TestSupportFailure) {
        life = try Pipe()
        output = try Pipe()
        let script = #""$@" </dev/null & child=$!; exec >&- 2>&-; read -r line; kill "$child"; wait "$child""#
        guardian = try spawn(
            ["/bin/sh", "-c", script, "sh"] + command, input: life.reading, output: output.writing,
            errors: output.writing)
        life.closeReading()
        output.closeWriting()
    }

    deinit { stop() }

    /// Sends SIGTERM and returns when the program has exited. May be called more than once.
    package func stop() {
        let wasRunning = isRunning.withLock { isRunning in
            defer { isRunning = false }
            return isRunning
        }
        guard wasRunning else { return }
        life.closeWriting()
        _ = waitFor(guardian)
    }

    /// Waits until the program has written something or has exited.
    package func waitForOutput(milliseconds: Int32) -> Bool {
        var watched = pollfd(fd: output.reading, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, milliseconds) > 0
    }

    /// Reads the next part of its output, both streams together; empty when the program has exited.
    package func readOutput() -> [UInt8] { output.readSome() }
}

// MARK: -

/// The two ends of a pipe; closed with the object, or earlier.
private final class Pipe: Sendable {
    let reading: Int32
    let writing: Int32
    private let openEnds: Monitor<Set<Int32>>

    init() throws(TestSupportFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestSupportFailure("no pipe: error \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
        openEnds = Monitor([ends[0], ends[1]])
    }

    deinit {
        closeReading()
        closeWriting()
    }

    func closeReading() { closeOnce(reading) }
    func closeWriting() { closeOnce(writing) }

    private func closeOnce(_ end: Int32) {
        if openEnds.withLock({ $0.remove(end) }) != nil { close(end) }
    }

    func readSome() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reading, &buffer, buffer.count)
            if count >= 0 { return Array(buffer[..<count]) }
            if errno != EINTR { return [] }
        }
    }

    func readToEnd() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let part = readSome()
            if part.isEmpty { return all }
            all += part
        }
    }
}

private func spawn(
    _ command: [String], input: Int32, output: Int32, errors: Int32
) throws(TestSupportFailure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    // If the child inherited a socket, it would stay open when the test closes it, and the other side would wait
    // forever. Closing descriptors that are not open is harmless, within the limit.
    for descriptor in 3..<min(1024, Int32(clamping: sysconf(Int32(_SC_OPEN_MAX)))) {
        posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The spawning thread may have signals blocked, and the test runner may ignore some.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let code = posix_spawnp(&process, command[0], &actions, &attributes, &arguments, environ)
    guard code == 0 else { throw TestSupportFailure("cannot run \(command[0]): error \(code)") }
    return process
}

private func waitFor(_ process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    // As the macros of <sys/wait.h> do: the low seven bits are the signal.
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : -signal
}
