import SDDBase
import SDDCoders

/// Changes a picture with odd numbers and encodes it: a PNG must decode to the same pixels, a JPEG to the same size.
@_cdecl("fuzz_edit")
public func fuzzEdit(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let input = FuzzInput(bytes, count), let body = input.beginning(input.body.count),
        let pixels = decoded(body)
    else { return Verdict.rejected }
    guard let made = try? TransformChain([transform(input)]).apply(to: pixels) else { return Verdict.interesting }
    checkPNG(made)
    checkJPEG(made, input)
    return Verdict.interesting
}

private func decoded(_ body: Bytes) -> PixelBuffer? {
    let step = try? FuzzChoices.stream().read(body, forms: [DecodeOptions(isUpright: false)], isLast: true)
    return try? step?.pictures?.first?.image.get().decoded()
}

/// Returns small numbers, and numbers near overflows.
private func number(_ byte: UInt8) -> Int {
    switch byte {
    case 0: .min
    case 1: .max
    case 2: Int(Int32.max)
    case 3: Int(Int32.min)
    default: Int(Int8(bitPattern: byte))
    }
}

private func transform(_ input: FuzzInput) -> PictureTransform {
    let numbers = input.control.prefix(4).map(number)
    let choice = input.control[4]
    switch choice % 5 {
    case 0:
        let fit = SizeRule.Fit(rawValue: Int32(choice >> 5 & 3)) ?? .inside
        return .resize(SizeRule(width: numbers[0], height: numbers[1], fit: fit, byteLimit: Int64(numbers[2])))
    case 1: return .crop(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    case 2: return .flip(PictureTransform.Flip(rawValue: Int32(truncatingIfNeeded: numbers[0])))
    case 3: return .rotate(PictureTransform.QuarterTurns.allCases[Int(choice >> 5) % 3])
    default: return .roundCorners(radius: numbers[0], PictureTransform.Corners(rawValue: Int32(choice >> 4)))
    }
}

private func checkPNG(_ pixels: PixelBuffer) {
    guard let bytes = try? ImageEncoder.encode(pixels, EncodeOptions(format: .png)) else { finding("not encoded") }
    guard let back = decoded(bytes), back.isEqual(to: pixels) else { finding("a different picture is decoded") }
}

private func checkJPEG(_ pixels: PixelBuffer, _ input: FuzzInput) {
    var options = EncodeOptions(format: .jpeg)
    options.quality = 1 + Int(input.control[5]) % 100
    options.chroma = EncodeOptions.Chroma(rawValue: Int32(input.control[6] & 3)) ?? .half
    options.isProgressive = input.control[6] & 4 != 0
    options.byteLimit = Int64(input.control[7]) * 16
    guard let bytes = try? ImageEncoder.encode(pixels, options) else { return }
    guard options.byteLimit == 0 || bytes.count <= options.byteLimit else { finding("more bytes than the limit") }
    let back = decoded(bytes)
    guard back?.width == pixels.width, back?.height == pixels.height else { finding("a picture of a different size") }
}
