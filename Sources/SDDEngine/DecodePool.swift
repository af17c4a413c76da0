import SDDBase
import SDDCoders
import SDDTransport

/// The decode threads, `sdd-decode-N`: they pull bodies, and give pictures, or what the host's own work on a
/// body came to. Owned by one downloader. Each thread has decoders of its own, used again from picture to picture.
final class DecodePool: Sendable {
    /// What the pool asks and tells, on its threads.
    struct Client: Sendable {
        let next: @Sendable () -> DecodeWork?
        let decoded: @Sendable (TransferID, Decoded) -> Void
        let processed: @Sendable (TransferID, BodyWork.Outcome) -> Void
    }

    private let workers: WorkerPool

    init(
        threads: Int, registry: CoderRegistry, limits: DecodeLimits, client: Client
    ) throws(SystemError) {
        workers = try WorkerPool(name: "sdd-decode", threads: threads) {
            let decoders = DecoderSet(registry: registry)
            return {
                guard let work = client.next() else { return false }
                switch work.step {
                case .decode(let forms):
                    client.decoded(work.id, Self.decode(work.bytes, forms, with: decoders, limits))
                case .process(let bodyWork, let response):
                    client.processed(work.id, bodyWork.run(on: work.bytes, response: response))
                }
                return true
            }
        }
    }

    func wake(for pieces: Int) { workers.wake(for: pieces) }

    /// The threads end after the piece each is at. Never blocks.
    func stop() { workers.stop() }

    func join() { workers.join() }

    private static func decode(
        _ bytes: Bytes, _ forms: [PixelForm], with decoders: DecoderSet, _ limits: DecodeLimits
    ) -> Decoded {
        do throws(CoderError) {
            return .success(try decoders.decode(bytes, forms: forms, limits: limits))
        } catch {
            return .failure(error)
        }
    }
}
