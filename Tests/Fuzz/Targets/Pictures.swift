import SDDBase
import SDDCoders

@_cdecl("fuzz_jpeg")
public func fuzzJPEG(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 { fuzzPicture(.jpeg, bytes, count) }

@_cdecl("fuzz_png")
public func fuzzPNG(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 { fuzzPicture(.png, bytes, count) }

/// Decodes a picture in pieces, with previews: the result must equal that of decoding it at once.
private func fuzzPicture(_ format: ImageFormat, _ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let input = FuzzInput(bytes, count), let body = input.beginning(input.body.count),
        ImageFormat(sniffing: body) == format
    else { return Verdict.rejected }
    let choices = FuzzChoices(input)
    for isLenient in [false, true] {
        let forms = choices.forms(isLenient: isLenient)
        let atOnce = Outcome(forms) { () throws(CoderError) in
            try FuzzChoices.stream().read(body, forms: forms, isLast: true)
        }
        let inPieces = Outcome(forms) { () throws(CoderError) in try choices.readInPieces(input, forms) }
        if let difference = atOnce.difference(from: inPieces) { finding("at once and in pieces: \(difference)") }
    }
    return Verdict.interesting
}

/// The choices that the input's first bytes make.
struct FuzzChoices {
    private let flags: UInt8
    private let size: SizeRule
    private let format: PixelFormat
    private let counts: [Int]

    init(_ input: FuzzInput) {
        flags = input.control[4]
        let fit = SizeRule.Fit(rawValue: Int32(flags >> 5 & 3)) ?? .inside
        size = SizeRule(
            width: Int(input.control[5]), height: Int(input.control[6]), fit: fit, allowsEnlarging: flags & 4 != 0)
        format = PixelFormat(rawValue: 1 + Int32(input.control[7]) % 9) ?? .rgba8
        counts = input.counts
    }

    static let limits: DecodeLimits = {
        var limits = DecodeLimits(maxPixels: 1 << 16)
        limits.maxScans = 20
        limits.milliseconds = 0  // no limit: with a clock results would vary
        return limits
    }()

    static func stream() -> PictureStream { PictureStream(limits: limits, registry: .builtIn) }

    /// Full size, scaled, and upright; perhaps one form alone, which takes another code path.
    func forms(isLenient: Bool) -> [DecodeOptions] {
        let colour = flags & 1 == 0 ? DecodeOptions.Colour.usual : .sRGB
        let all = [
            DecodeOptions(format: format, isUpright: false, isLenient: isLenient, colour: colour),
            DecodeOptions(format: flags & 2 == 0 ? .rgba8 : format, size: size, isLenient: isLenient, colour: colour),
            DecodeOptions(format: .bgra8Premultiplied, isUpright: true, isLenient: isLenient),
        ]
        return flags & 0x10 == 0 ? all : [all[flags & 0x08 == 0 ? 0 : 1]]
    }

    /// Decodes the body in pieces and drops the previews.
    func readInPieces(_ input: FuzzInput, _ forms: [DecodeOptions]) throws(CoderError) -> PictureStream.Step {
        let stream = Self.stream()
        for count in counts.dropLast() {
            guard let bytes = input.beginning(count) else { throw CoderError(.noMemory) }
            // A failed step is not the final result: libjpeg reports more errors when it has fewer bytes to look ahead.
            _ = try? stream.read(bytes, forms: forms, isLast: false, previewScans: flags & 0x80 == 0 ? 1 : nil)
        }
        guard let bytes = input.beginning(input.body.count) else { throw CoderError(.noMemory) }
        return try stream.read(bytes, forms: forms, isLast: true)
    }
}
