import SDDBase
import SDDCoders
import SDDTransport

/// The work that waits for decode threads: complete bodies, bodies that lack room for their image, and steps on
/// incomplete bodies. It counts the bytes that wait, and holds back ends whose memory a decode thread still writes to.
/// A value, part of the table.
struct DecodeQueue<Recipient: AnyObject> {
    typealias Place = PriorityBuckets<TransferID>.Place

    private var bodies = PriorityBuckets<TransferID>()
    /// Jobs with an incomplete body whose streams have a step to take.
    private var steps = PriorityBuckets<TransferID>()
    /// Jobs that have a stream for the received part of their body.
    private var streaming: Set<UInt64> = []
    /// Jobs with complete bodies that wait for decode memory, and the keepers that grant it.
    private var room: RoomLines
    private(set) var backlog = DecodeBacklog()
    /// Terminal events held back until a decode thread has stopped writing to the caller's memory, by the number of the
    /// job's id.
    private var detained: [UInt64: [RequestEnd<Recipient>]] = [:]

    init(room: RoomLines = RoomLines()) { self.room = room }

    /// True if nothing waits, no stream is open and no end is held back.
    var isEmpty: Bool {
        bodies.isEmpty && steps.isEmpty && streaming.isEmpty && room.isEmpty && detained.isEmpty && backlog.total == 0
            && backlog.prompt == 0 && backlog.promptJobs == 0
    }
}

// MARK: - Complete bodies

extension DecodeQueue {
    /// True if a body waits for a decode thread only.
    var hasBodies: Bool { !bodies.isEmpty }

    mutating func append(_ job: Job<Recipient>) -> Place {
        backlog.add(job.bodyCount, isPrompt: job.isPrompt)
        return bodies.append(job.id, priority: job.priority)
    }

    mutating func remove(_ place: Place, of job: Job<Recipient>) {
        bodies.remove(place)
        backlog.add(-job.bodyCount, isPrompt: job.isPrompt)
    }

    /// Moves a job behind the others of its new priority.
    mutating func move(_ place: Place, of job: Job<Recipient>) -> Place {
        bodies.remove(place)
        return bodies.append(job.id, priority: job.priority)
    }

    /// Removes and returns the most urgent job. Its bytes count until `workBegan`.
    mutating func popFirst() -> TransferID? { bodies.popFirst() }

    /// Records that a decode thread takes a body that does not wait any more.
    mutating func workBegan(on job: Job<Recipient>) { backlog.add(-job.bodyCount, isPrompt: job.isPrompt) }
}

// MARK: - Bodies that wait for memory

extension DecodeQueue {
    var lacksRoom: Bool { !room.isEmpty }

    /// True if complete bodies of this downloader or another wait for memory.
    var isRoomWanted: Bool { room.isWanted }

    mutating func appendLacking(_ job: Job<Recipient>) -> RoomLines.Place {
        backlog.add(job.bodyCount, isPrompt: job.isPrompt)
        return room.append(job.id, priority: job.priority, isPrompt: job.isPrompt)
    }

    mutating func removeLacking(_ place: RoomLines.Place, of job: Job<Recipient>) {
        room.remove(place)
        backlog.add(-job.bodyCount, isPrompt: job.isPrompt)
    }

    /// Moves a job behind the others of its new priority, or to the line of prompt jobs.
    mutating func moveLacking(_ place: RoomLines.Place, of job: Job<Recipient>) -> RoomLines.Place {
        room.remove(place)
        return room.append(job.id, priority: job.priority, isPrompt: job.isPrompt)
    }

    /// Returns the number of the first job of a line, unless a body that needs no memory yet is more urgent.
    func firstLacking(isPrompt: Bool) -> UInt64? { room.first(isPrompt: isPrompt, before: bodies.first?.rank) }

    /// Takes memory for the first job of a line, if there is enough.
    func takeRoom(isPrompt: Bool, for bytes: Int) -> (any MemoryReserved)? { room.ask(isPrompt: isPrompt, for: bytes) }

    /// Removes a job that has got its memory. Its bytes count until `workBegan`.
    mutating func gotRoom(_ place: RoomLines.Place) { room.remove(place) }

    /// Returns the keeper that a decode of the job's body asks for memory.
    func keeper(for job: Job<Recipient>, hasRoom: Bool) -> (any MemoryKeeping)? {
        room.keeper(for: job, hasRoom: hasRoom)
    }
}

// MARK: - The backlog

extension DecodeQueue {
    /// Counts the jobs that a thread may be blocked on.
    mutating func promptJobsChanged(by count: Int) { backlog.promptJobs += count }

    /// Counts the bytes of a waiting body that has become prompt.
    mutating func becamePrompt(_ job: Job<Recipient>) { backlog.becamePrompt(job.bodyCount) }

    /// Decides anew whether running transfers are held back.
    /// - Returns: true if that has changed.
    mutating func updateHold() -> Bool { backlog.update() }
}

// MARK: - Incomplete bodies

extension DecodeQueue {
    var streamCount: Int { streaming.count }
    var stepCount: Int { steps.count }
    /// The numbers of the jobs that have a stream, in order.
    var streamNumbers: [UInt64] { streaming.sorted() }

    mutating func insertStream(of job: Job<Recipient>) { streaming.insert(job.id.number) }

    /// - Parameter step: the place of the stream's next step, if one waits.
    mutating func removeStream(of job: Job<Recipient>, step: Place?) {
        if let step { steps.remove(step) }
        streaming.remove(job.id.number)
    }

    mutating func appendStep(of job: Job<Recipient>) -> Place { steps.append(job.id, priority: job.priority) }

    /// Moves a job's step behind the others of its new priority.
    mutating func moveStep(_ place: Place, of job: Job<Recipient>) -> Place {
        steps.remove(place)
        return steps.append(job.id, priority: job.priority)
    }

    mutating func popStep() -> TransferID? { steps.popFirst() }
}

// MARK: - Ends held back

extension DecodeQueue {
    /// Holds back a terminal event while a decode thread may write to the caller's memory.
    mutating func detain(_ end: RequestEnd<Recipient>, of job: Job<Recipient>) {
        detained[job.id.number, default: []].append(end)
    }

    /// Removes and returns the events held back for a job.
    mutating func release(_ number: UInt64) -> [RequestEnd<Recipient>]? { detained.removeValue(forKey: number) }
}

extension Job {
    fileprivate var bodyCount: Int { body?.count ?? 0 }
}
