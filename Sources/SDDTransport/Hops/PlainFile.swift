internal import Glibc

/// Checks the file that a file: URL names before libcurl opens it. libcurl would treat a directory as an empty file,
/// and a pipe or terminal would block the whole network thread forever.
enum PlainFile {
    static let message =
        "The file cannot be read; check that it exists, is a plain file, and may be read by this process."

    static func check(_ url: String) throws(TransportError) {
        var status = stat()
        let path = URLText.filePath(url).map { CChar(bitPattern: $0) } + [0]
        // libcurl refuses a path that contains a NUL.
        guard stat(path, &status) == 0 else {
            throw TransportError(.fileNotReadable, systemError: errno, message: message)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TransportError(.fileNotReadable, message: message)
        }
    }
}
