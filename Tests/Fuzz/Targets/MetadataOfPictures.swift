import SDDBase
import SDDCoders

/// Profiles, Exif blocks and texts of JPEGs and PNGs: all bytes must be readable, and all texts valid.
@_cdecl("fuzz_metadata")
public func fuzzMetadata(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let input = FuzzInput(bytes, count), let body = input.beginning(input.body.count),
        let format = ImageFormat(sniffing: body)
    else { return Verdict.rejected }
    let metadata = Metadata(of: body, format: format)
    for kind in Metadata.Kind.allCases {
        if let block = try? metadata.block(kind) { readThrough(block) }
    }
    for text in metadata.texts {
        for part in [text.keyword, text.text, text.language, text.translatedKeyword] {
            readThrough(part)
            guard String(validating: part.pointer, as: UTF8.self) != nil else { finding("a text that is not UTF-8") }
        }
    }
    return Verdict.interesting
}

/// Reads all bytes, so that the sanitizer checks them.
private func readThrough(_ bytes: Bytes) {
    let sum = bytes.pointer.reduce(UInt8(0)) { $0 ^ $1 }
    withExtendedLifetime(sum) {}
}
