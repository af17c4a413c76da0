import SDDBase
@testable import SDDCoders

/// Colour profiles, and the notes that caches keep of them: pixels of every layout are converted, and a note says what
/// went into it.
@_cdecl("fuzz_colour")
public func fuzzColour(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let input = FuzzInput(bytes, count), let body = input.beginning(input.body.count) else {
        return Verdict.rejected
    }
    _ = ColourNote.colour(body.pointer)
    var description = ColourDescription()
    description.profile = body
    description.isGrey = input.control[0] & 1 != 0
    description.hasInks = input.control[0] & 2 != 0
    if input.control[1] > 0 {
        description.codePoints = CodePoints(primaries: Int(input.control[1]), transfer: Int(input.control[2]))
    }
    if input.control[3] > 0 { description.gamma = Int(input.control[3]) << (input.control[4] & 31) }
    if input.control[0] & 4 != 0 {
        description.chromaticities = (0..<8).map { Int(input.control[$0]) << (input.control[7 - $0] & 15) }
    }
    guard let colour = PictureColour.made(of: description) else { return Verdict.rejected }
    checkNote(of: colour)
    if let name = colour.name.pointer, String(validatingCString: name) == nil { finding("a name that is not UTF-8") }
    guard let converter = colour.converter else { return Verdict.interesting }
    for format in [PixelFormat.rgba8, .rgb8, .grey8, .rgba16] { convertAll(by: converter, format) }
    return Verdict.interesting
}

/// Converts pixels with each value of a channel.
private func convertAll(by converter: any PixelConverting, _ format: PixelFormat) {
    guard let pixels = PixelBuffer(width: 256, height: 3, format: format) else { return }
    for y in 0..<3 {
        let row = pixels.base + y * pixels.stride
        for offset in 0..<pixels.stride {
            let value = UInt8(truncatingIfNeeded: y == 0 ? offset : y == 1 ? offset &* 7 : 255 &- offset / 2)
            row.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
        }
    }
    do { try converter.convert(pixels) } catch {}
}

private func checkNote(of colour: PictureColour) {
    let again = ColourNote.bytes(of: colour).withUnsafeBytes { ColourNote.colour($0) }
    guard let again, again.kind == colour.kind, again.isConvertible else { finding("a note that says something else") }
}
