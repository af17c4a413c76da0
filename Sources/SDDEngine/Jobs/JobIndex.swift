import SDDBase
import SDDTransport

/// A job or a request that waits for a slot on the network.
enum Waiter {
    case job(TransferID)
    /// A request whose job is still to be made.
    case plain(PlainRequest)
}

/// The jobs of a `DownloadTable`, found by id, by the token of a request, or by what a new request asks for. It also
/// generates their ids. A value, part of the table.
struct JobIndex<Recipient: AnyObject> {
    /// A handler's position: its job, and its place in the job's list.
    struct Member {
        let job: Job<Recipient>
        let place: Handlers<Recipient>.Place

        var handler: Job<Recipient>.Handler? { job.handlers[place] }
    }

    /// All jobs by the number of their id.
    private var jobs = NumberMap<Job<Recipient>>()
    private var members = NumberMap<Member>()
    /// Jobs that other requests may join, by the hash key of their request. Jobs with the same hash key form a chain,
    /// `Job.nextShared`.
    private var shared = NumberMap<Job<Recipient>>()
    /// Requests that wait and have no job yet, by token, and by the hash key that their job will have. No two of them,
    /// and no job, have the same hash key.
    private var plain = NumberMap<PlainRequest>()
    private var sharedPlain = NumberMap<PlainRequest>()
    private let tally = Job<Recipient>.Tally()
    private var lastNumber: UInt64 = 0
    /// Generates the numbers of ids; `nil` counts from 1.
    private let numbers: (@Sendable () -> UInt64)?

    /// - Parameter numbers: generates the numbers of ids, each larger than those before.
    init(numbers: (@Sendable () -> UInt64)? = nil) { self.numbers = numbers }

    mutating func makeID() -> TransferID {
        lastNumber = numbers?() ?? lastNumber + 1
        return TransferID(lastNumber)
    }

    // MARK: - Jobs

    /// The number of jobs, and of requests that have none yet.
    var count: Int { jobs.count + plain.count }
    /// The number of jobs in a cache lookup.
    var askingCount: Int { tally.asking }
    /// The jobs in the order of their ids.
    var sorted: [Job<Recipient>] { jobs.sortedValues }
    /// True if no job, token or chain is left.
    var isEmpty: Bool { jobs.isEmpty && members.isEmpty && shared.isEmpty && plain.isEmpty && sharedPlain.isEmpty }

    /// The job with this number in its id.
    subscript(number: UInt64) -> Job<Recipient>? { jobs[number] }

    /// Adds a job without its handlers.
    mutating func insert(_ job: Job<Recipient>) {
        jobs[job.id.number] = job
        job.enterTable(tally)
        if job.isShared { share(job) }
    }

    /// Removes a job; the tokens of its handlers stay until each of them is removed.
    mutating func remove(_ job: Job<Recipient>) {
        jobs[job.id.number] = nil
        job.leaveTable()
        if job.isShared { unshare(job) }
    }

    /// Gives a job a new id, so that late events of its previous transfer do not reach it.
    mutating func renumber(_ job: Job<Recipient>) {
        jobs[job.id.number] = nil
        job.id = makeID()
        jobs[job.id.number] = job
    }

    // MARK: - Tokens

    var tokenCount: Int { members.count + plain.count }

    func contains(token: UInt64) -> Bool { members[token] != nil || plain[token] != nil }

    func member(of token: UInt64) -> Member? { members[token] }

    mutating func add(token: UInt64, at place: Handlers<Recipient>.Place, of job: Job<Recipient>) {
        members[token] = Member(job: job, place: place)
    }

    mutating func remove(token: UInt64) { members[token] = nil }

    // MARK: - Plain requests

    /// Removes all plain requests.
    /// - Returns: them, in the order of their jobs' ids.
    mutating func takePlain() -> [PlainRequest] {
        let taken = plain.values.map { ($0.id.number, $0) }.sorted { $0.0 < $1.0 }.map { $0.1 }
        (plain, sharedPlain) = (NumberMap(), NumberMap())
        return taken
    }

    func plain(of token: UInt64) -> PlainRequest? { plain.isEmpty ? nil : plain[token] }
    func plain(sharedBy hashKey: UInt64) -> PlainRequest? { sharedPlain.isEmpty ? nil : sharedPlain[hashKey] }

    /// - Parameter request: for whose hash key `hasShared` is false.
    mutating func insert(_ request: PlainRequest) {
        plain[request.token] = request
        sharedPlain[request.hashKey] = request
    }

    mutating func remove(_ request: PlainRequest) {
        plain[request.token] = nil
        sharedPlain[request.hashKey] = nil
    }

    // MARK: - Sharing

    /// Whether a request with this hash key may join another one.
    func hasShared(_ hashKey: UInt64) -> Bool { shared[hashKey] != nil || sharedPlain[hashKey] != nil }

    /// Returns the job that a new request may join, if there is one.
    func sharedJob(for request: DownloadRequest) -> Job<Recipient>? {
        var job = shared[request.hashKey]
        while let candidate = job, !candidate.serves(request) { job = candidate.nextShared }
        return job
    }

    private mutating func share(_ job: Job<Recipient>) {
        let key = job.hashKey
        job.nextShared = shared[key]
        shared[key] = job
    }

    private mutating func unshare(_ job: Job<Recipient>) {
        let key = job.hashKey
        guard let first = shared[key] else { return }
        if first === job {
            shared[key] = job.nextShared
        } else {
            var before = first
            while let next = before.nextShared, next !== job { before = next }
            before.nextShared = job.nextShared
        }
        job.nextShared = nil
    }
}
