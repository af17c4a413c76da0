internal import Glibc

/// Looks at what a file: URL names before libcurl does: it would take a directory for an empty file, and
/// wait on a pipe or a terminal for ever, with the whole network thread.
enum PlainFile {
    static let message =
        "The file cannot be read; check that it exists, is a plain file, and may be read by this process."

    static func check(_ url: String) throws(TransportError) {
        var status = stat()
        let path = URLText.filePath(url)
        // A name with a NUL in it is refused by libcurl.
        guard stat(path, &status) == 0 else {
            throw TransportError(.fileNotReadable, systemError: errno, message: message)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TransportError(.fileNotReadable, message: message)
        }
    }
}
