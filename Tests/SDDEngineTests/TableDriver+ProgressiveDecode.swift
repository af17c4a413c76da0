import SDDBase
import SDDTransport
import Testing

@testable import SDDCoders
@testable import SDDEngine

// Bodies that are decoded before they are complete, with decoders whose results the test determines.
extension Driver {
    /// Submits a request and gives it its response, and takes the commands; the first is transfer 1.
    func begin(
        _ number: Int, priority: Priority = .normal, pixels: Bool = true, expected: Int64 = 1 << 20,
        change: (inout DownloadRequest) throws -> Void = { _ in }
    ) throws -> UInt64 {
        let token = try submit(number, priority: priority, pixels: pixels, change: change)
        let id = try #require(commands().started.first)
        respond(id, expected: expected)
        return token
    }

    /// Receives and shows that many bytes of a body.
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

    /// Returns the next step of a progressive decode; nil if the next work is something else, or there is none.
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

/// Results of decoders.
enum Made {
    static let facts: ImageFacts? = try? ImageFacts(
        format: .png, width: 3, height: 2, channels: 3, depth: 8, isProgressive: true)

    static func image(_ form: DecodeOptions = DecodeOptions(), isPreview: Bool = false) -> Image {
        // The process ends here if there is no memory.
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
