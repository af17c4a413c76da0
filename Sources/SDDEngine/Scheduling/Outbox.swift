import SDDBase
import SDDTransport

/// The decisions of a `DownloadTable` that others have to carry out: events for listeners, commands for the transport,
/// work for caches, objects to release, and wake-ups of the decode threads. Each kind keeps its order. A value, part of
/// the table.
struct Outbox<Recipient: AnyObject> {
    private var batch = EventBatch<Recipient>()
    /// Commands for each network thread, by its number.
    private var commands: [[TransportCommand]]
    /// The threads that have commands.
    private(set) var threadsWithCommands = NetworkThreads(rawValue: 0)
    private var cacheTasks: [CacheTask] = []
    private var lastTicket: UInt64 = 0
    /// Pieces of work for the decode threads since the last `takeWork`.
    private var newWork = 0
    /// The time by which the transport's first thread has been told to ask again.
    private var promisedDeadline = Int64.max

    /// - Parameter threadCount: the number of network threads.
    init(threadCount: Int = 1) { commands = Array(repeating: [], count: threadCount) }

    /// The number of network threads.
    var threadCount: Int { commands.count }

    // MARK: - Adding

    mutating func append(_ event: DeliveryEvent<Recipient>) { batch.events.append(event) }
    mutating func append(_ end: RequestEnd<Recipient>) {
        if end.isOfStage {
            batch.stageEnds.append(end)
        } else {
            batch.events.append(.end(end.listener, end.result))
        }
    }
    /// Keeps events other than the end, which comes later, from a listener.
    mutating func mute(_ listener: Recipient) { batch.muted.append(listener) }
    /// Releases an object without the lock, because it may hold objects of the application.
    mutating func release(_ object: AnyObject) { batch.released.append(object) }
    /// - Parameter thread: the number of the network thread that the command is for.
    mutating func send(_ command: TransportCommand, to thread: Int = 0) {
        commands[thread].append(command)
        threadsWithCommands.insert(NetworkThreads(number: thread))
    }
    mutating func run(_ task: CacheTask) { cacheTasks.append(task) }
    /// Announces one more piece of work for the decode threads.
    mutating func addWork() { newWork += 1 }

    /// Makes room for this many more events.
    mutating func reserveEvents(_ count: Int) { batch.events.reserveCapacity(batch.events.count + count) }

    // MARK: - Taking

    /// Removes and returns the events, with their position in the order of all batches. Batches are delivered after the
    /// unlock by threads that may overtake one another, but must reach the application in the order in which they were
    /// decided.
    mutating func takeBatch() -> EventBatch<Recipient> {
        if batch.isEmpty { return EventBatch() }
        lastTicket += 1
        var taken = EventBatch<Recipient>()
        swap(&taken, &batch)
        taken.ticket = lastTicket
        return taken
    }

    mutating func takeCacheTasks() -> [CacheTask] {
        if cacheTasks.isEmpty { return [] }
        var taken: [CacheTask] = []
        swap(&taken, &cacheTasks)
        return taken
    }

    /// Moves the pending commands for a network thread to `taken`.
    mutating func takeCommands(of thread: NetworkThreads, into taken: inout [TransportCommand]) {
        taken += commands[thread.number]
        commands[thread.number].removeAll(keepingCapacity: true)
        threadsWithCommands.remove(thread)
    }

    /// Records that the transport's first thread is told now to ask again by this time.
    mutating func promised(_ deadline: Int64) { promisedDeadline = deadline }

    var hasWork: Bool { newWork > 0 }

    /// Removes one piece of work for the decode threads.
    /// - Returns: false if there was none.
    mutating func takeOneWork() -> Bool {
        guard newWork > 0 else { return false }
        newWork -= 1
        return true
    }

    /// Removes and returns the number of pieces of work for the decode threads.
    mutating func takeWork() -> Int {
        defer { newWork = 0 }
        return newWork
    }

    /// True if the transport would ask too late for this time.
    func isLate(for deadline: Int64) -> Bool { deadline < promisedDeadline }
}
