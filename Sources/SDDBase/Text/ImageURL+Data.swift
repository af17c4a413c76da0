// data: URLs (RFC 2397) have no host and are as long as their content. They are parsed as the URL Standard says.

extension ImageURL {
    private static var dataStart: StaticString { "data:" }
    /// The number of bytes needed to recognise a data: URL.
    package static var dataStartLength: Int { dataStart.utf8CodeUnitCount }

    package static func isData(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count >= dataStartLength else { return false }
        // Bit 0x20 is set only from 0x41 on: below that, it could turn a control character into ":".
        return (0..<dataStartLength).allSatisfy { index in
            let byte = bytes[index] >= 0x41 ? bytes[index] | 0x20 : bytes[index]
            return byte == dataStart.utf8Start[index]
        }
    }

    /// Takes a URL whose text may contain spaces. Anything other than printable ASCII is percent-encoded, which does
    /// not change the meaning.
    /// - Parameters:
    ///   - bytes: a text for which `isData` is true.
    ///   - limit: the largest number of bytes.
    package init(data bytes: UnsafeBufferPointer<UInt8>, limit: Int) throws(Flaw) {
        guard Self.isData(bytes) else { throw .scheme }
        guard bytes.count <= limit else { throw .tooLong }
        guard let given = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        if bytes.allSatisfy({ (0x21...0x7e).contains($0) }) {
            self.init(dataText: given)
        } else {
            // URL Standard §4.4: control characters and spaces at the end, and tabs and line ends anywhere, are
            // removed.
            var kept = Array(bytes)
            while let last = kept.last, last <= 0x20 { kept.removeLast() }
            kept.removeAll { $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
            self.init(dataText: kept.withUnsafeBufferPointer { Self.percentEncoded($0) })
        }
    }
}
