import Glibc

/// Writes a line to standard error in one call, so that lines of several threads and processes stay whole. One that does
/// not go out is lost. Raises no SIGPIPE. Any thread.
package func writeToStandardError(_ line: [UInt8]) {
    line.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        _ = withoutSIGPIPE { write(STDERR_FILENO, start, bytes.count) < 0 ? errno : 0 }
    }
}

/// A variable of the environment, which the application may be changing: to be asked for once, early.
package func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// As others know this process.
package func processNumber() -> Int32 { getpid() }
