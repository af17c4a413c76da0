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

/// Gain maps: a map lies within the picture, its numbers are finite and mean something, and it becomes a file.
@_cdecl("fuzz_gainmap")
public func fuzzGainMap(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let input = FuzzInput(bytes, count), let body = input.beginning(input.body.count) else {
        return Verdict.rejected
    }
    defer { withExtendedLifetime(body) {} }
    let isJPEG = body.pointer.starts(with: [0xff, 0xd8])
    let found = try? isJPEG ? GainMap.find(inJPEG: body.pointer) : GainMap.find(inItems: body.pointer)
    guard let map = found else { return Verdict.interesting }
    guard map.place.upperBound <= body.count, isJPEG ? map.place.lowerBound > 0 && !map.place.isEmpty : map.item != nil
    else { finding("a map outside of its picture") }
    if let file = try? map.file(in: body.pointer) {
        guard file.count == (isJPEG ? map.place.count : body.count) else { finding("a map of another size") }
        readThrough(file)
    }
    let numbers = map.channels.flatMap { [$0.minBoost, $0.maxBoost, $0.gamma, $0.offsetSDR, $0.offsetHDR] }
    guard (numbers + [map.minCapacity, map.maxCapacity]).allSatisfy(\.isFinite) else {
        finding("a number that is none")
    }
    guard map.channels.allSatisfy({ $0.minBoost <= $0.maxBoost && ($0.gamma > 0 || map.kind == .apple) }) else {
        finding("numbers that mean nothing")
    }
    return Verdict.interesting
}

/// ThumbHashes: a picture of any bytes has a hash again.
@_cdecl("fuzz_thumbhash")
public func fuzzThumbHash(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let made = try? ThumbHash.picture(of: UnsafeRawBufferPointer(start: bytes, count: count)) else {
        return Verdict.interesting
    }
    guard max(made.width, made.height) == 32, let hash = try? ThumbHash.hash(of: made) else {
        finding("a picture that has no hash")
    }
    guard (try? ThumbHash.picture(of: hash.pointer)) != nil else { finding("a hash that is none") }
    withExtendedLifetime(hash) {}
    return Verdict.interesting
}

/// Reads all bytes, so that the sanitizer checks them.
private func readThrough(_ bytes: Bytes) {
    let sum = bytes.pointer.reduce(UInt8(0)) { $0 ^ $1 }
    withExtendedLifetime(sum) {}
}
