import SDDBase
import SDDCoders
import SDDTransport

/// A downloader's complete bodies for whose images there is no room, the most urgent first. Those of prompt jobs have a
/// line of their own, see `Job.isPrompt`. A value type, part of the table.
struct RoomLines {
    struct Place: Equatable, Sendable {
        fileprivate let isPrompt: Bool
        fileprivate let place: PriorityBuckets<TransferNumber>.Place
    }

    typealias TransferNumber = UInt64

    private var lines = [PriorityBuckets<TransferNumber>(), PriorityBuckets<TransferNumber>()]
    private let keepers: [(any RoomKeeping)?]

    /// Makes lines with one keeper each; `nil` means there is always enough room.
    init(_ keeper: (any RoomKeeping)? = nil, prompt: (any RoomKeeping)? = nil) { keepers = [keeper, prompt] }

    private static func index(_ isPrompt: Bool) -> Int { isPrompt ? 1 : 0 }

    var isEmpty: Bool { count == 0 }
    var count: Int { lines[0].count + lines[1].count }

    var isWanted: Bool { keepers[0]?.isWanted ?? false }

    mutating func append(_ id: TransferID, priority: Priority, isPrompt: Bool) -> Place {
        Place(isPrompt: isPrompt, place: lines[Self.index(isPrompt)].append(id.number, priority: priority))
    }

    /// Removes a body. When its line has become empty, the keeper stops asking for room.
    mutating func remove(_ place: Place) {
        let index = Self.index(place.isPrompt)
        lines[index].remove(place.place)
        if lines[index].isEmpty { keepers[index]?.withdraw() }
    }

    /// Returns the first job of a line, unless a body that has just arrived is more urgent. The keeper must still be
    /// asked.
    func first(isPrompt: Bool, before rank: Int?) -> TransferNumber? {
        guard let first = lines[Self.index(isPrompt)].first, first.rank <= rank ?? .max else { return nil }
        return first.element
    }

    /// Takes room for the first job of a line.
    func ask(isPrompt: Bool, for bytes: Int) -> (any MemoryReserved)? {
        keepers[Self.index(isPrompt)]?.ask(for: bytes)
    }

    /// Returns the keeper that a decode of the job's body asks for room. No body overtakes bodies of its downloader
    /// that wait already, unless it is more urgent.
    func keeper<Recipient: AnyObject>(for job: Job<Recipient>, hasRoom: Bool) -> (any MemoryKeeping)? {
        let index = Self.index(job.isPrompt)
        guard keepers[index] != nil, !hasRoom, let first = lines[index].first, first.rank <= job.priority.rank
        else { return keepers[index] }
        return NoRoom()
    }

    /// A keeper that refuses all room, because other bodies wait.
    private struct NoRoom: MemoryKeeping {
        func reserve(_ bytes: Int, isArriving: Bool) -> (any MemoryReserved)? { nil }
    }
}
