// data: URLs (RFC 2397) have no host, and are as long as what is in them. They are taken as the URL Standard takes them.

extension ImageURL {
    private static var dataStart: StaticString { "data:" }
    /// How much has to be known to tell one.
    package static var dataStartLength: Int { dataStart.utf8CodeUnitCount }

    package static func isData(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count >= dataStartLength else { return false }
        // From 0x41 on, only letters differ from "data:" by that bit.
        return (0..<dataStartLength).allSatisfy { index in
            let byte = bytes[index] >= 0x41 ? bytes[index] | 0x20 : bytes[index]
            return byte == dataStart.utf8Start[index]
        }
    }

    /// The text may have spaces. What is no printable ASCII is percent-encoded, which means the same.
    /// - Parameters:
    ///   - bytes: `isData`.
    ///   - limit: of their count.
    package init(data bytes: UnsafeBufferPointer<UInt8>, limit: Int) throws(Flaw) {
        guard Self.isData(bytes) else { throw .scheme }
        guard bytes.count <= limit else { throw .tooLong }
        guard let given = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        if bytes.allSatisfy({ (0x21...0x7e).contains($0) }) {
            self.init(dataText: given)
        } else {
            // URL Standard §4.4: what stands at the end, and tabs and line ends anywhere, are left out.
            var kept = Array(bytes)
            while let last = kept.last, last <= 0x20 { kept.removeLast() }
            kept.removeAll { $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
            self.init(dataText: kept.withUnsafeBufferPointer { Self.percentEncoded($0) })
        }
    }
}
