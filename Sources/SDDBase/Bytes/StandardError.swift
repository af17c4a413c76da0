import Glibc

/// Writes a line to standard error in one call, so that lines of several threads and processes are not interleaved. A
/// line that cannot be written is lost. Raises no SIGPIPE. Callable from any thread.
package func writeToStandardError(_ line: [UInt8]) {
    line.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        _ = withoutSIGPIPE { write(STDERR_FILENO, start, bytes.count) < 0 ? errno : 0 }
    }
}

/// Returns an environment variable. The application may change the environment at any time, so read each variable once,
/// early.
package func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// Returns the id of this process.
package func processNumber() -> Int32 { getpid() }
