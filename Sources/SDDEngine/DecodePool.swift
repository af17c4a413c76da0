import SDDBase
import SDDCoders
import SDDTransport

/// The decode threads, `sdd-decode-N`: they pull bodies, and give pictures, or what the host's own work on a
/// body came to. Owned by one downloader. Each thread has decoders of its own, used again from picture to picture.
final class DecodePool: Sendable {
    /// What the pool asks and tells, on its threads.
    struct Client: Sendable {
        let next: @Sendable () -> DecodeWork?
        let decoded: @Sendable (TransferID, Decoded, ImageFacts?) -> Void
        let advanced: @Sendable (TransferID, Result<PictureStream.Step, CoderError>) -> Void
        let processed: @Sendable (TransferID, BodyWork.Outcome) -> Void
    }

    private let workers: WorkerPool
    private let memory: DecodeAccount

    init(
        threads: Int, registry: CoderRegistry, limits: DecodeLimits, memory: DecodeAccount, client: Client
    ) throws(SystemError) {
        self.memory = memory
        workers = try WorkerPool(name: "sdd-decode", threads: threads) {
            {
                guard let work = client.next() else { return false }
                switch work.step {
                case .decode(let forms, let stream):
                    let stream = stream ?? PictureStream(limits: limits, registry: registry, memory: memory)
                    client.decoded(work.id, Self.decode(work.bytes, forms, with: stream), stream.facts)
                case .advance(let stream, let part):
                    client.advanced(work.id, Self.advance(stream, work.bytes, part))
                case .process(let bodyWork, let response):
                    client.processed(work.id, bodyWork.run(on: work.bytes, response: response))
                }
                return true
            }
        }
    }

    func wake(for pieces: Int) { workers.wake(for: pieces) }

    /// The threads end after the piece each is at. Never blocks.
    func stop() {
        workers.stop()
        memory.close()
    }

    func join() { workers.join() }

    private static func decode(_ bytes: Bytes, _ forms: [PixelForm], with stream: PictureStream) -> Decoded {
        do throws(CoderError) {
            return .success(try stream.read(bytes, forms: forms, isLast: true))
        } catch {
            return .failure(error)
        }
    }

    private static func advance(
        _ stream: PictureStream, _ bytes: Bytes, _ part: DecodeWork.Part
    ) -> Result<PictureStream.Step, CoderError> {
        do throws(CoderError) {
            return .success(
                try stream.read(
                    bytes, forms: part.forms, isLast: false, previewScans: part.wantsPreviews ? part.leastScans : nil,
                    endsEarly: part.endsEarly))
        } catch {
            return .failure(error)
        }
    }
}
