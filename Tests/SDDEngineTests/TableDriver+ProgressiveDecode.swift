import SDDBase
import SDDTransport
import Testing

@testable import SDDCoders
@testable import SDDEngine

// Bodies that are read before they are complete, with decoders that make what the test says.
extension Driver {
    /// A request that has its response, and whose orders have been taken; the first is transfer 1.
    func begin(
        _ number: Int, priority: Priority = .normal, pixels: Bool = true, expected: Int64 = 1 << 20,
        change: (inout DownloadRequest) throws -> Void = { _ in }
    ) throws -> UInt64 {
        let token = try submit(number, priority: priority, pixels: pixels, change: change)
        let id = try #require(commands().started.first)
        respond(id, expected: expected)
        return token
    }

    /// So much of a body is there, and has been shown.
    func show(_ id: UInt64, _ count: Int) {
        receive(id, Int64(count))
        report(.body(TransferID(id), Sample.body(count)))
    }

    func advanced(_ id: UInt64, _ step: PictureStream.Step = PictureStream.Step()) {
        play { $0.advanced(TransferID(id), .success(step), at: now) }
    }

    func advanced(_ id: UInt64, failure: CoderError.Kind) {
        play { $0.advanced(TransferID(id), .failure(CoderError(failure)), at: now) }
    }

    /// What a decode thread is to do ahead of a body's end; nil if it is something else, or nothing.
    func nextPart() -> (id: UInt64, count: Int, part: DecodeWork.Part)? {
        guard let work = nextWork(), case .advance(_, let part) = work.step else { return nil }
        return (work.id.number, work.bytes.count, part)
    }

    var hasNothingAhead: Bool { table.decoding.streamCount == 0 && table.decoding.stepCount == 0 && table.jobs.isEmpty }
}

extension PictureStream.Step {
    init(
        facts: ImageFacts?, previews: [(form: DecodeOptions, image: Image)] = [],
        pictures: [FormedPicture]? = nil, isComplete: Bool = false
    ) {
        self.init(pictures: pictures)
        self.facts = facts
        self.previews = previews
        self.isComplete = isComplete
    }
}

/// What decoders make.
enum Made {
    static let facts: ImageFacts? = try? ImageFacts(
        format: .png, width: 3, height: 2, channels: 3, depth: 8, isProgressive: true)

    static func image(_ form: DecodeOptions = DecodeOptions(), isPreview: Bool = false) -> Image {
        // A test that has no memory may end here.
        let pixels = PixelBuffer(width: 3, height: 2, format: form.format)!
        return Image(pixels: pixels, format: .png, bytes: nil, facts: facts, form: form, isPreview: isPreview)
    }

    static func previews(_ forms: DecodeOptions...) -> PictureStream.Step {
        let forms = forms.isEmpty ? [DecodeOptions()] : forms
        return PictureStream.Step(facts: facts, previews: forms.map { ($0, image($0, isPreview: true)) })
    }

    static func pictures(_ forms: DecodeOptions...) -> PictureStream.Step {
        let forms = forms.isEmpty ? [DecodeOptions()] : forms
        return PictureStream.Step(facts: facts, pictures: forms.map { ($0, .success(image($0))) }, isComplete: true)
    }
}
