// fault-server: the scripted server as a program, for tests in other languages. It prints "listening PORT" and runs
// until its standard input ends or it gets SIGTERM or SIGINT. README.md describes the language of its URLs.
import Glibc
import TestSupport

struct Arguments {
    var files: String?
    var port: UInt16 = 0

    init?(_ words: [String]) {
        var words = words[...]
        while let word = words.popFirst() {
            guard let value = words.popFirst() else { return nil }
            switch word {
            case "--files": files = value
            case "--port":
                guard let number = UInt16(value) else { return nil }
                port = number
            default: return nil
            }
        }
    }
}

/// Blocks the signals that end the program, for `waitForEnd` to wait for. Called before any other thread starts.
func blockedStopSignals() -> sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    return signals
}

/// Returns when the other end of the standard input is closed, or when a signal ends the program.
func waitForEnd(_ signals: sigset_t) {
    // A thread turns the end of the input into a signal too, so that there is one thing to wait for.
    var reader = pthread_t()
    let code = pthread_create(
        &reader, nil,
        { _ in
            var buffer = [UInt8](repeating: 0, count: 256)
            while read(STDIN_FILENO, &buffer, buffer.count) > 0 {}
            kill(getpid(), SIGTERM)
            return nil
        }, nil)
    guard code == 0 else { fail("no thread: error \(code)") }
    pthread_detach(reader)
    var signals = signals
    var signal: Int32 = 0
    sigwait(&signals, &signal)
}

func fail(_ message: String) -> Never {
    let line = Array("fault-server: \(message)\n".utf8)
    write(STDERR_FILENO, line, line.count)
    exit(2)
}

let stopSignals = blockedStopSignals()
guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else {
    fail("usage: fault-server [--files DIR] [--port N]")
}
do {
    let server = try ScriptedServer(fileRoot: arguments.files, port: arguments.port, keepsRequests: false)
    print("listening \(server.port)")
    fflush(nil)
    waitForEnd(stopSignals)
    server.stop()
} catch {
    fail("cannot listen: \(error)")
}
