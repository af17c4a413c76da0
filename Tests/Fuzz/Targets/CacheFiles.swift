import SDDBase

@testable import SDDCaches

/// Files of a cache's directory, which anybody may have written: trailers of entries, parts of bodies, ledgers. Their
/// checksums are corrected first, because the fuzzer would hardly find them.
@_cdecl("fuzz_files")
public func fuzzFiles(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let bytes, count > 2 else { return Verdict.rejected }
    let rest = Array(UnsafeBufferPointer(start: bytes + 2, count: count - 2))
    switch bytes[0] & 3 {
    case 0: checkTrailer(signed(rest), keyLength: Int(bytes[1]))
    case 1: checkTrailer(rest, keyLength: Int(bytes[1]))
    case 2: checkPart(rest, keyLength: Int(bytes[1]))
    default: checkLedger(rest)
    }
    return Verdict.interesting
}

/// Returns the bytes with a matching footer.
private func signed(_ bytes: [UInt8]) -> [UInt8] {
    let metadata = EntryMetadata(key: "k")
    guard let model = EntryTrailer(metadata: metadata, bodyLength: 0, bodySum: 0).encoded() else { return bytes }
    var footer = Array(model.suffix(EntryTrailer.footerLength))
    replace(&footer, at: 0, by: bytes.withUnsafeBytes { XXH64.sum(of: $0) })
    replace(&footer, at: 8, by: UInt32(clamping: bytes.count + footer.count))
    return bytes + footer
}

private func replace<Number: FixedWidthInteger>(_ bytes: inout [UInt8], at offset: Int, by number: Number) {
    withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(offset..<(offset + $0.count), with: $0) }
}

/// Checks that a valid trailer is the same when it is written again. The key comes from the place where keys are.
private func checkTrailer(_ bytes: [UInt8], keyLength: Int) {
    bytes.withUnsafeBytes { all in
        guard let length = try? EntryTrailer.length(ofFileEndingWith: all), length <= all.count else { return }
        let own = UnsafeRawBufferPointer(rebasing: all.suffix(length))
        let key = String(decoding: own.dropFirst(48).prefix(keyLength), as: UTF8.self)
        guard let trailer = try? EntryTrailer(own, key: key) else { return }
        guard trailer.encoded()?.elementsEqual(own) == true else { finding("another trailer") }
    }
}

private func checkPart(_ bytes: [UInt8], keyLength: Int) {
    bytes.withUnsafeBytes { all in
        let key = String(decoding: all.dropFirst(20).prefix(keyLength), as: UTF8.self)
        guard let part = PartFormat.Reading(all, key: key) else { return }
        guard part.goodLength <= all.count, part.pieces.allSatisfy({ $0.upperBound <= part.goodLength }),
            part.pieces.reduce(0, { $0 + $1.count }) == part.bodyLength
        else { finding("a part beyond its file") }
    }
}

private func checkLedger(_ bytes: [UInt8]) {
    var reading = LedgerReading()
    bytes.withUnsafeBytes { _ = reading.take($0) }
    guard reading.offset <= Int64(bytes.count) else { finding("lines that do not exist") }
}
