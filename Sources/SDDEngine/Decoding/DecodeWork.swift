import SDDBase
import SDDCoders
import SDDTransport

/// One piece of work for a decode thread.
struct DecodeWork: Sendable {
    enum Step: Sendable {
        /// Runs the application's processing of the body.
        case process(BodyWork, Response)
        /// Decodes the whole body once into each of the forms, continuing the stream if there is one. Without forms,
        /// only the facts are read.
        case decode([DecodeOptions], PictureStream?)
        /// Decodes the received part of an incomplete body.
        case advance(PictureStream, Part)
    }

    /// Parameters of a step on an incomplete body.
    struct Part: Sendable {
        let forms: [DecodeOptions]
        let wantsPreviews: Bool
        let leastScans: Int
        let endsEarly: Bool
        let mayWait: Bool
    }

    let id: TransferID
    let bytes: Bytes
    let step: Step
    /// True if the body was encoded from an image already in the wanted form, see `PictureStream`.
    var isMade = false
    /// Provides memory for the image; `nil` means that memory is unlimited.
    var memory: (any MemoryKeeping)?
    /// Memory already reserved for the image.
    var room: (any MemoryReserved)?
    var stop: DecodeStop?
    /// Finds the image in memory instead; see `Job.search`.
    var search: MemorySearch?
}

/// The outcome of a decode: a step with an image in each requested form.
typealias Decoded = Result<PictureStream.Step, CoderError>
