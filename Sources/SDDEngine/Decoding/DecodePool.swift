import SDDBase
import SDDCoders
import SDDTransport

/// The decode threads, `sdd-decode-N`. They take bodies, and produce images or the results of the application's body
/// processing. Owned by one downloader.
final class DecodePool: Sendable {
    /// The callbacks that the pool's threads use to fetch work and to report results.
    struct Client: Sendable {
        let next: @Sendable () -> DecodeWork?
        let decoded: @Sendable (TransferID, Decoded, ImageFacts?) -> Void
        let advanced: @Sendable (TransferID, Decoded) -> Void
        let foundInMemory: @Sendable (TransferID, DecodeOptions, Image) -> Void
        let processed: @Sendable (TransferID, BodyWork.Outcome) -> Void
    }

    private let workers: WorkerPool
    private let desk: DecodeDesk
    private let run: @Sendable (DecodeWork) -> Void
    private let accounts: [DecodeAccount]

    init(
        threads: Int, desk: DecodeDesk, registry: CoderRegistry, limits: DecodeLimits, accounts: [DecodeAccount],
        client: Client
    ) throws(SystemError) {
        self.accounts = accounts
        let run = { @Sendable (work: DecodeWork) in
            DecodeStop.watching(work.stop) { Self.run(work, limits, registry, client) }
        }
        let workers = try WorkerPool(
            name: "sdd-decode", threads: threads, atEnd: { while let work = desk.takeGiven() { run(work) } }
        ) {
            var seat = DecodeDesk.Seat(desk)
            return {
                guard let work = seat.nextWork(client.next) else { return false }
                run(work)
                return true
            }
        }
        self.workers = workers
        self.desk = desk
        self.run = run
        // Wake a thread when an account gets room: that room is for its next piece of work.
        for account in accounts { account.setBell { [weak workers] in workers?.wake(for: 1) } }
    }

    private static func run(_ work: DecodeWork, _ limits: DecodeLimits, _ registry: CoderRegistry, _ client: Client) {
        switch work.step {
        case .decode(let forms, let stream):
            Trace.step("decode")
            if let search = work.search, let form = forms.first, let image = search.held().ready {
                return client.foundInMemory(work.id, form, image)
            }
            let stream =
                stream
                ?? PictureStream(
                    limits: limits, registry: registry, memory: work.memory, granted: work.room, isMade: work.isMade)
            let outcome = Decoded { () throws(CoderError) in try stream.read(work.bytes, forms: forms, isLast: true) }
            client.decoded(work.id, outcome, stream.facts)
        case .advance(let stream, let part):
            let outcome = Decoded { () throws(CoderError) in
                try stream.read(
                    work.bytes, forms: part.forms, isLast: false,
                    previewScans: part.wantsPreviews ? part.leastScans : nil, endsEarly: part.endsEarly,
                    mayWait: part.mayWait)
            }
            client.advanced(work.id, outcome)
        case .process(let bodyWork, let response):
            client.processed(work.id, bodyWork.run(on: work.bytes, response: response))
        }
    }

    func wake(for pieces: Int) { workers.wake(for: pieces) }

    /// Gives work to the threads; does it on the calling thread if they are ending.
    func give(_ work: [DecodeWork]) {
        if desk.give(work) { return wake(for: work.count) }
        for piece in work { run(piece) }
    }

    /// Stops each thread after its current piece of work, and the work that it was given. Never blocks.
    /// - Parameter conclusion: as for `WorkerPool.stop`.
    func stop(conclusion: (@Sendable () -> Void)? = nil) {
        desk.close()
        workers.stop(conclusion: conclusion)
        for account in accounts { account.close() }
    }

    var isOwnThread: Bool { workers.isOwnThread }

    func join() { workers.join() }
}
