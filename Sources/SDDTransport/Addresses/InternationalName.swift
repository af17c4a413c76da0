internal import CCurl
import Glibc
package import SDDBase

extension ImageURL {
    /// Checks a URL like `init(checking:allowsFiles:others:)`, but takes a host name outside ASCII too, and keeps the
    /// URL with the name's ASCII form ("xn--bcher-kva.example").
    package init(
        checkingAnyHost bytes: UnsafeBufferPointer<UInt8>, allowsFiles: Bool, others: [String] = []
    ) throws(Flaw) {
        do throws(Flaw) {
            self = try ImageURL(checking: bytes, allowsFiles: allowsFiles, others: others)
        } catch .hostNotASCII(let name) {
            guard let ascii = InternationalName.ascii(String(decoding: bytes[name], as: UTF8.self)) else {
                throw .hostNotASCII(name)
            }
            let text = Array(bytes[..<name.lowerBound]) + ascii.utf8 + bytes[name.upperBound...]
            self = try text.withUnsafeBufferPointer { (bytes) throws(Flaw) in
                try ImageURL(checking: bytes, allowsFiles: allowsFiles, others: others)
            }
        }
    }
}

/// Host names outside ASCII, converted by libcurl's libidn2: IDNA 2008 with the mapping of UTS 46.
private enum InternationalName {
    /// libidn2 takes the name as text of the thread's locale, which is ASCII in a program that has not called
    /// setlocale(). Never freed. nil if the system has no such locale.
    nonisolated(unsafe) private static let utf8 = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

    /// - Returns: `nil` if the name has no ASCII form, libcurl was built without libidn2, or there is no memory.
    static func ascii(_ name: String) -> String? {
        guard let parts = URLParts("http://\(name)/") else { return nil }
        let before = utf8.flatMap { uselocale($0) }
        defer { if let before { uselocale(before) } }
        guard let ascii = parts.asciiHost, !ascii.isEmpty, ascii.utf8.allSatisfy(isOfHostName) else { return nil }
        return ascii
    }

    /// Some characters stand for several, also for such as end a host: U+2100 for "a/c".
    private static func isOfHostName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
