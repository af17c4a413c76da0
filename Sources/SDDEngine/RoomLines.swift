import SDDBase
import SDDCoders
import SDDTransport

/// Who decides how much room there is for pictures that are decoded. Any thread, also under a table's lock; it never
/// waits, and calls no table.
protocol RoomKeeping: MemoryKeeping {
    /// Takes room for a picture whose body is complete. Where it is refused, it stands in line among all downloaders of
    /// the process, and is to ask again when it is woken.
    func ask(for bytes: Int) -> (any MemoryReserved)?
    /// Nothing waits any more.
    func withdraw()
    /// Complete bodies of this downloader or another wait for room.
    var isWanted: Bool { get }
}

/// Complete bodies of a downloader for whose pictures there is no room, the most urgent first; those of prompt jobs in a
/// line of their own, see `Job.isPrompt`. A value; the table's.
struct RoomLines {
    struct Place: Equatable, Sendable {
        fileprivate let isPrompt: Bool
        fileprivate let place: PriorityBuckets<TransferNumber>.Place
    }

    typealias TransferNumber = UInt64

    private var lines = [PriorityBuckets<TransferNumber>(), PriorityBuckets<TransferNumber>()]
    private let keepers: [(any RoomKeeping)?]

    /// nil: there is enough room for all.
    init(_ keeper: (any RoomKeeping)? = nil, prompt: (any RoomKeeping)? = nil) { keepers = [keeper, prompt] }

    private static func index(_ isPrompt: Bool) -> Int { isPrompt ? 1 : 0 }

    var isEmpty: Bool { count == 0 }
    var count: Int { lines[0].count + lines[1].count }

    var isWanted: Bool { keepers[0]?.isWanted ?? false }

    mutating func append(_ id: TransferID, priority: Priority, isPrompt: Bool) -> Place {
        Place(isPrompt: isPrompt, place: lines[Self.index(isPrompt)].append(id.number, priority: priority))
    }

    /// Nobody asks for room any more where the line has become empty.
    mutating func remove(_ place: Place) {
        let index = Self.index(place.isPrompt)
        lines[index].remove(place.place)
        if lines[index].isEmpty { keepers[index]?.withdraw() }
    }

    /// The first job of a line, unless a body that has just come is more urgent; the keeper is to be asked.
    func first(isPrompt: Bool, before rank: Int?) -> TransferNumber? {
        guard let first = lines[Self.index(isPrompt)].first, first.rank <= rank ?? .max else { return nil }
        return first.element
    }

    /// Takes room for the first job of a line.
    func ask(isPrompt: Bool, for bytes: Int) -> (any MemoryReserved)? {
        keepers[Self.index(isPrompt)]?.ask(for: bytes)
    }

    /// Asked for room by whoever decodes a body. No body overtakes those of its downloader that wait already, unless it
    /// is more urgent than they are.
    func keeper<Subscriber>(for job: Job<Subscriber>, hasRoom: Bool) -> (any MemoryKeeping)? {
        let index = Self.index(job.isPrompt)
        guard keepers[index] != nil, !hasRoom, let first = lines[index].first, first.rank <= job.priority.rank
        else { return keepers[index] }
        return NoRoom()
    }

    /// Gives no room, for others wait.
    private struct NoRoom: MemoryKeeping {
        func reserve(_ bytes: Int, isArriving: Bool) -> (any MemoryReserved)? { nil }
    }
}
