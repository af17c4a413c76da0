internal import CSDD
internal import SDDBase

/// The handles of one kind, and what they stand for. A handle is a number, looked up here, and not an address: one that
/// was destroyed, or that a parent process made, is recognised instead of followed. Numbers are of use once. Any thread.
final class HandleRegistry<Object: AnyObject & Sendable>: Sendable {
    struct State {
        var objects: [UInt: Object] = [:]
        var shared: UInt?
        var last: UInt = 0
    }

    private let state = Monitor(State())
    /// 1 to 15: a handle of one kind is none of another.
    private let kind: UInt

    init(kind: UInt) { self.kind = kind }

    func add(_ object: Object) -> OpaquePointer? {
        OpaquePointer(bitPattern: state.withLock { add(object, to: &$0) })
    }

    private func add(_ object: Object, to state: inout State) -> UInt {
        state.last += 1
        let number = ForkGeneration.current << generationShift | state.last << 4 | kind
        state.objects[number] = object
        return number
    }

    /// What a handle stands for; not NULL.
    func object(_ handle: OpaquePointer) throws(Refusal) -> Object {
        let number = UInt(bitPattern: handle)
        if isForked(number) { throw Refusal(SDD_ERROR_FORKED) }
        guard let object = state.withLock({ $0.objects[number] }) else { throw Refusal(SDD_ERROR_CLOSED) }
        return object
    }

    /// The one that NULL stands for, made when it is first asked for; in the child of a fork that is a new one, since the
    /// parent's is dead there. The lock is held meanwhile.
    func shared(
        _ make: () throws(Refusal) -> Object
    ) throws(Refusal) -> (handle: OpaquePointer?, object: Object) {
        try state.withLock { state throws(Refusal) in
            if let number = state.shared, !isForked(number) {
                guard let object = state.objects[number] else { throw Refusal(SDD_ERROR_CLOSED) }
                return (OpaquePointer(bitPattern: number), object)
            }
            let object = try make()
            let number = add(object, to: &state)
            state.shared = number
            return (OpaquePointer(bitPattern: number), object)
        }
    }

    func isShared(_ handle: OpaquePointer) -> Bool { state.withLock { $0.shared == UInt(bitPattern: handle) } }

    /// Makes a handle dead; what it stood for goes to the caller. Refuses the shared one, and what `check` does not want.
    func remove(
        _ handle: OpaquePointer?, unless check: (Object) throws(Refusal) -> Void = { _ in }
    ) throws(Refusal) -> Object {
        guard let handle else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let number = UInt(bitPattern: handle)
        if isForked(number) { throw Refusal(SDD_ERROR_FORKED) }
        return try state.withLock { state throws(Refusal) in
            if state.shared == number { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
            guard let object = state.objects[number] else { throw Refusal(SDD_ERROR_CLOSED) }
            try check(object)
            state.objects[number] = nil
            return object
        }
    }

    /// Those of this process.
    var live: [Object] {
        state.withLock { state in state.objects.filter { !isForked($0.key) }.map { $0.value } }
    }

    /// The same, and from now on their handles are dead.
    func removeLive() -> [Object] {
        state.withLock { state in
            let live = state.objects.filter { !isForked($0.key) }
            for number in live.keys { state.objects[number] = nil }
            return Array(live.values)
        }
    }

    func lockForFork() { state.lockForFork() }
    func unlockInParent() { state.unlockInParent() }
    func resetInChild() { state.resetInChild() }
}

/// Above it stands in which process a handle was made.
private let generationShift = 48

private func isForked(_ number: UInt) -> Bool { number >> UInt(generationShift) != ForkGeneration.current }
