internal import CSDD
internal import SDDBase

/// The kind of a handle. It is a part of the handle's value, so that one kind of handle is never taken for another.
enum HandleKind: UInt {
    case downloader = 1, cache, loader, batch

    var word: StaticString {
        switch self {
        case .downloader: "downloader"
        case .cache: "cache"
        case .loader: "loader"
        case .batch: "batch"
        }
    }

    /// The shared loader is made with the shared cache and the shared downloader, each under its registry's lock.
    var lockRank: LockRank {
        switch self {
        case .batch: .batches
        case .loader: .loaders
        case .cache: .caches
        case .downloader: .downloaders
        }
    }

    /// Returns the refusal of the shared object, where only an object that the application made is allowed. There is no
    /// shared batch, so for batches it is the refusal of NULL.
    func notShared(_ place: Place) -> Refusal {
        if self == .batch { return .null(place) }
        return Refusal(
            SDD_ERROR_INVALID_ARGUMENT, place, "the shared \(word), NULL, lives as long as the process")
    }
}

/// The handles of one kind and their objects. A handle is an id that is looked up here, not an address: one that was
/// destroyed or made by a parent process is detected, not dereferenced. Ids are never reused. Callable from any thread.
final class HandleRegistry<Object: AnyObject & Sendable>: Sendable {
    struct State {
        var objects = NumberMap<(number: UInt, object: Object)>()
        var shared: UInt?
        var last: UInt = 0
    }

    private let state: Monitor<State>
    private let kind: HandleKind

    init(_ kind: HandleKind) {
        self.kind = kind
        state = Monitor(State(), rank: kind.lockRank)
    }

    func add(_ object: Object) -> OpaquePointer? {
        OpaquePointer(bitPattern: state.withLock { add(object, to: &$0) })
    }

    private func add(_ object: Object, to state: inout State) -> UInt {
        state.last += 1
        let number = ForkGeneration.current << generationShift | state.last << 4 | kind.rawValue
        state.objects[UInt64(number)] = (number, object)
        return number
    }

    /// Returns the object behind a handle that is not NULL.
    func object(_ handle: OpaquePointer, _ place: Place) throws(Refusal) -> Object {
        let number = UInt(bitPattern: handle)
        if isForked(number) { throw forked(number, place) }
        guard let object = state.withLock({ $0.objects[UInt64(number)]?.object }) else { throw dead(number, place) }
        return object
    }

    private func forked(_ number: UInt, _ place: Place) -> Refusal {
        Refusal(
            SDD_ERROR_FORKED, place,
            "\(hexadecimal(number)) is no \(kind.word) of this process: it is the parent's, or none; make a new one")
    }

    private func dead(_ number: UInt, _ place: Place) -> Refusal {
        let other =
            HandleKind(rawValue: number & 15).flatMap { $0 == kind ? nil : ", and looks like a \($0.word)" } ?? ""
        return Refusal(
            SDD_ERROR_CLOSED, place,
            "\(hexadecimal(number)) is no living \(kind.word): it was destroyed, or never was one\(other)")
    }

    private func sharedIsGone(_ place: Place) -> Refusal {
        Refusal(
            SDD_ERROR_CLOSED, place, "NULL stands for the shared \(kind.word), which is gone, since the process ends")
    }

    /// Returns the object that NULL stands for, created on first use with the lock held. The child of a fork creates a
    /// new one, since the parent's is dead there.
    func shared(
        _ place: Place, _ make: () throws(Refusal) -> Object
    ) throws(Refusal) -> (handle: OpaquePointer?, object: Object) {
        try state.withLock { state throws(Refusal) in
            if let number = state.shared, !isForked(number) {
                guard let object = state.objects[UInt64(number)]?.object else { throw sharedIsGone(place) }
                return (OpaquePointer(bitPattern: number), object)
            }
            let object = try make()
            let number = add(object, to: &state)
            state.shared = number
            return (OpaquePointer(bitPattern: number), object)
        }
    }

    func isShared(_ handle: OpaquePointer) -> Bool { state.withLock { $0.shared == UInt(bitPattern: handle) } }

    /// Invalidates a handle and returns its object. Refuses the shared object, and whatever makes `check` throw.
    func remove(
        _ handle: OpaquePointer?, _ place: Place, unless check: (Object) throws(Refusal) -> Void = { _ in }
    ) throws(Refusal) -> Object {
        guard let handle else { throw kind.notShared(place) }
        let number = UInt(bitPattern: handle)
        if isForked(number) { throw forked(number, place) }
        return try state.withLock { state throws(Refusal) in
            if state.shared == number { throw kind.notShared(place) }
            guard let object = state.objects[UInt64(number)]?.object else { throw dead(number, place) }
            try check(object)
            state.objects[UInt64(number)] = nil
            return object
        }
    }

    /// The objects created in this process, not those inherited from a parent.
    var live: [Object] {
        state.withLock { state in state.objects.values.filter { !isForked($0.number) }.map { $0.object } }
    }

    /// Invalidates the handles of all objects created in this process, and returns those objects.
    func removeLive() -> [Object] {
        state.withLock { state in
            let live = state.objects.values.filter { !isForked($0.number) }
            for (number, _) in live { state.objects[UInt64(number)] = nil }
            return live.map { $0.object }
        }
    }

    func lockForFork() { state.lockForFork() }
    func unlockInParent() { state.unlockInParent() }
    func resetInChild() { state.resetInChild() }
}

private func hexadecimal(_ number: UInt) -> String { "0x" + String(number, radix: 16) }

/// The position of the fork generation in a handle: it tells which process made the handle.
private let generationShift = 48

private func isForked(_ number: UInt) -> Bool { number >> UInt(generationShift) != ForkGeneration.current }
