import SDDBase
import SDDCoders

@_cdecl("fuzz_jpeg")
public func fuzzJPEG(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 { fuzzPicture(.jpeg, bytes, count) }

@_cdecl("fuzz_png")
public func fuzzPNG(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 { fuzzPicture(.png, bytes, count) }

/// A picture that comes in pieces, with previews, must become what it becomes when it comes at once.
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

/// What the input's first bytes ask for.
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
        limits.milliseconds = 0  // any: a clock makes outcomes differ
        return limits
    }()

    static func stream() -> PictureStream { PictureStream(limits: limits, registry: .builtIn) }

    /// Of full size, smaller, and turned; perhaps one alone, which goes another way.
    func forms(isLenient: Bool) -> [PixelForm] {
        let all = [
            PixelForm(format: format, isUpright: false, isLenient: isLenient),
            PixelForm(format: flags & 2 == 0 ? .rgba8 : format, size: size, isLenient: isLenient),
            PixelForm(format: .bgra8Premultiplied, isUpright: true, isLenient: isLenient),
        ]
        return flags & 0x10 == 0 ? all : [all[flags & 0x08 == 0 ? 0 : 1]]
    }

    /// What it comes to, previews looked at and forgotten.
    func readInPieces(_ input: FuzzInput, _ forms: [PixelForm]) throws(CoderError) -> PictureStream.Step {
        let stream = Self.stream()
        for count in counts.dropLast() {
            guard let bytes = input.beginning(count) else { throw CoderError(.noMemory) }
            // A step that fails is no verdict: libjpeg finds more wrong where it has less to look ahead.
            _ = try? stream.read(bytes, forms: forms, isLast: false, previewScans: flags & 0x80 == 0 ? 1 : nil)
        }
        guard let bytes = input.beginning(input.body.count) else { throw CoderError(.noMemory) }
        return try stream.read(bytes, forms: forms, isLast: true)
    }
}
