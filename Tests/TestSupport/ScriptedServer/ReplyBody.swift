import Glibc
import SDDBase

/// The bytes of a reply: one block, repeated up to `count`, so that a body of gigabytes takes no memory. A value.
package struct ReplyBody: Sendable {
    package let count: Int
    private let block: [UInt8]

    init(_ bytes: [UInt8]) {
        block = bytes
        count = bytes.count
    }

    init(_ text: String) { self.init(Array(text.utf8)) }

    /// Makes the pattern that a client can compute for itself; see the README of the fault server.
    package init(seed: UInt32, count: Int) {
        // The pattern repeats after 65,536 bytes.
        block = [UInt8](unsafeUninitializedCapacity: min(count, 65_536)) { bytes, filled in
            filled = bytes.count
            for index in 0..<bytes.count {
                let shifted = UInt32(index) &* 31 &+ UInt32(index >> 8) &* 17 &+ (seed >> UInt32(8 * (index & 3)))
                bytes[index] = UInt8(truncatingIfNeeded: shifted)
            }
        }
        self.count = count
    }

    /// The whole body, to compare with.
    package var bytes: [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(count)
        while all.count < count { all += piece(at: all.count, most: count - all.count) }
        return all
    }

    /// Returns at most `most` bytes from `offset` on; at least one, unless the body ends there.
    func piece(at offset: Int, most: Int) -> ArraySlice<UInt8> {
        guard offset < count, most > 0 else { return [] }
        let start = offset % block.count
        return block[start..<min(block.count, start + min(most, count - offset))]
    }

    /// Returns the FNV-1a hash of the request's target, so that different URLs have different bodies.
    package static func seed(of target: String) -> UInt32 {
        target.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }

    /// Returns the content of a file below `root`; nil if it does not exist. `name` must stay below it: no "..".
    init?(file name: String, below root: String?) {
        let parts = name.split(separator: "/")
        guard let root, !parts.isEmpty, !parts.contains("..") else { return nil }
        guard let bytes = readFile(root + "/" + parts.joined(separator: "/")) else { return nil }
        self.init(bytes)
    }
}

/// Returns the content of a regular file; nil if it cannot be read.
package func readFile(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var filled = 0
    while filled < bytes.count {
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + filled, $0.count - filled) }
        guard count > 0 else { return nil }
        filled += count
    }
    return bytes
}

/// Returns the type for the file name's extension; a test that wants another says `type=`.
func contentType(ofFile name: String) -> String {
    switch name.split(separator: ".").last?.lowercased() {
    case "jpg", "jpeg": "image/jpeg"
    case "png", "apng": "image/png"
    case "gif": "image/gif"
    case "webp": "image/webp"
    case "svg": "image/svg+xml"
    case "html": "text/html"
    case "txt", "md": "text/plain"
    default: "application/octet-stream"
    }
}
