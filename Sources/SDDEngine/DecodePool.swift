import SDDBase
import SDDCoders
import SDDTransport

/// The decode threads, `sdd-decode-N`: bodies in, pictures out, the most urgent first. Owned by one
/// downloader. Each thread has decoders of its own, used again from picture to picture.
final class DecodePool: Sendable {
    struct Job: Sendable {
        let id: TransferID
        let bytes: Bytes
    }

    /// What the pool tells, on its threads; `begins` answers whether the picture is still wanted.
    struct Client: Sendable {
        let begins: @Sendable (TransferID) -> Bool
        let decoded: @Sendable (TransferID, Result<Image, CoderError>) -> Void
    }

    private let workers: WorkerPool<Job>

    init(
        threads: Int, registry: CoderRegistry, options: DecodeOptions, client: Client
    ) throws(SystemError) {
        workers = try WorkerPool(name: "sdd-decode", threads: threads) {
            let decoders = DecoderSet(registry: registry)
            return { job in
                guard client.begins(job.id) else { return }
                client.decoded(job.id, Self.decode(job.bytes, with: decoders, options))
            }
        }
    }

    func submit(_ job: Job, priority: Priority) { workers.submit(job, priority: priority) }

    /// Waiting jobs are dropped; the ones at work end. Never blocks.
    func stop() { workers.stop() }

    func join() { workers.join() }

    private static func decode(
        _ bytes: Bytes, with decoders: DecoderSet, _ options: DecodeOptions
    ) -> Result<Image, CoderError> {
        do throws(CoderError) {
            return .success(try decoders.decode(bytes, options: options))
        } catch {
            return .failure(error)
        }
    }
}
