/// Makes the cache key of a URL that has parts unrelated to the image, such as a token or a signature. Drops query
/// parameters by name, and the fragment, which is never sent; everything else stays unchanged and in order. A value
/// type; safe on any thread.
package struct KeyFilter: Sendable {
    private struct Name: Sendable {
        let bytes: [UInt8]
        let isPrefix: Bool

        func matches(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
            isPrefix ? name.starts(with: bytes) : name.elementsEqual(bytes)
        }
    }

    private let names: [Name]

    /// - Parameter names: parameter names exactly as in the URL, case-sensitive; "utm_*" matches all names that begin
    ///   with "utm_".
    package init(dropping names: [String]) {
        self.names = names.map { name in
            let isPrefix = name.utf8.last == UInt8(ascii: "*")
            return Name(bytes: Array(isPrefix ? name.utf8.dropLast() : name.utf8[...]), isPrefix: isPrefix)
        }
    }

    package func key(of url: String) -> String {
        var url = url
        return url.withUTF8 { String(decoding: filtered($0), as: UTF8.self) }
    }

    private func filtered(_ url: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let text = url.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = text.firstIndex(of: UInt8(ascii: "?")) else { return Array(text) }
        var key = Array(text[..<mark])
        var separator = UInt8(ascii: "?")
        let query = text[(mark + 1)...]
        if query.isEmpty { return key }
        for parameter in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            if names.contains(where: { $0.matches(name) }) { continue }
            key.append(separator)
            key += parameter
            separator = UInt8(ascii: "&")
        }
        return key
    }
}
