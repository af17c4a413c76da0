import SDDBase
package import SDDCoders
import Synchronization

/// Tracks how much memory is taken by images that are being decoded or wait for delivery, in the whole process, and
/// which downloaders wait for room. Never blocks: a caller that is refused does other work, and is woken later.
/// Callable from any thread.
package final class DecodeMemory: Sendable {
    private struct State {
        var ledger = RoomLedger()
        /// Called, with no lock held, when an account may get room or should give some up.
        var bells: [UInt64: @Sendable () -> Void] = [:]
    }

    package static let ofProcess = DecodeMemory()

    private let state = Monitor(State())
    /// True while complete bodies wait for room; read without the lock.
    private let isShort = Atomic(false)

    package init() {}

    package var used: Int { state.withLock { $0.ledger.used } }
    package var limit: Int { state.withLock { $0.ledger.limit } }
    /// The default limit, which a configured limit of 0 selects.
    package static var standardLimit: Int { RoomLedger().limit }

    fileprivate func used(by account: UInt64) -> Int {
        state.withLock { $0.ledger.held(by: account) + $0.ledger.arriving(of: account) }
    }

    package func setLimit(_ bytes: Int) { change { $0.limit = bytes } }

    /// Makes an account for a downloader. A downloader may have two: see `DecodeAccount`.
    package func makeAccount(keepsUndelivered: Bool = true) -> DecodeAccount {
        DecodeAccount(self, change { $0.makeAccount() }, keepsUndelivered: keepsUndelivered)
    }

    fileprivate var isWanted: Bool { isShort.load(ordering: .relaxed) }

    fileprivate func setBell(of account: UInt64, _ bell: (@Sendable () -> Void)?) {
        let old = state.withLock { state in
            defer { state.bells[account] = bell }
            return state.bells[account]
        }
        // Release the old bell without the lock.
        withExtendedLifetime(old) {}
    }

    fileprivate func change<Outcome>(_ event: (inout RoomLedger) -> Outcome) -> Outcome {
        changeIfNeeded { ledger in (event(&ledger), true) }
    }

    /// - Parameter event: returns also whether an account may have to do something because of it. If a refusal that
    ///   changes nothing rang, a thread that has found no room would wake itself again and again.
    fileprivate func changeIfNeeded<Outcome>(
        _ event: (inout RoomLedger) -> (outcome: Outcome, rings: Bool)
    ) -> Outcome {
        let (outcome, bells) = state.withLock { state -> (Outcome, [@Sendable () -> Void]) in
            let (outcome, rings) = event(&state.ledger)
            guard rings else { return (outcome, []) }
            let isShort = !state.ledger.line.isEmpty
            if isShort || self.isShort.load(ordering: .relaxed) { self.isShort.store(isShort, ordering: .relaxed) }
            return (outcome, state.ledger.wakes.compactMap { state.bells[$0] })
        }
        for bell in bells { bell() }
        return outcome
    }

    // Another thread may hold the lock at the time of a fork, see `Monitor`.
    package func lockForFork() { state.lockForFork() }
    package func unlockInParent() { state.unlockInParent() }

    /// Resets the ledger in a forked child, which does not own its parent's images.
    package func resetInChild() {
        state.resetInChild()
        isShort.store(false, ordering: .relaxed)
        state.withLock { state in
            state.ledger.startOver()
            state.bells = [:]
        }
    }
}

/// The memory reserved for images of one downloader. A downloader has two accounts. In the first, images count until
/// they are delivered. In the second, for requests whose end is told immediately, images count only until they are
/// decoded: such requests wait only for decode threads, never for a delivery. A thread that blocks until its request
/// ends, even inside a callback that holds up all deliveries, therefore never waits for something that waits for that
/// thread.
package final class DecodeAccount: RoomKeeping {
    private let memory: DecodeMemory
    private let id: UInt64
    private let keepsUndelivered: Bool
    private let generation = ForkGeneration.current

    fileprivate init(_ memory: DecodeMemory, _ id: UInt64, keepsUndelivered: Bool) {
        self.memory = memory
        self.id = id
        self.keepsUndelivered = keepsUndelivered
    }

    deinit {
        // A forked child numbers its accounts from 1 again, so the parent's number may belong to another account there.
        guard ForkGeneration.current == generation else { return }
        memory.setBell(of: id, nil)
        memory.change { $0.forget(id) }
    }

    package func reserve(_ bytes: Int, isArriving: Bool) -> (any MemoryReserved)? {
        // Whoever waits has less room after it, or the same.
        let isTaken = memory.changeIfNeeded { ledger in (ledger.take(bytes, for: id, isArriving: isArriving), false) }
        guard isTaken else { return nil }
        return Reservation(memory, self, bytes, isArriving: isArriving)
    }

    package func ask(for bytes: Int) -> (any MemoryReserved)? {
        let isGranted = memory.changeIfNeeded { ledger in
            let before = ledger.wanted(by: id)
            let isGranted = ledger.ask(bytes, for: id)
            return (isGranted, ledger.wanted(by: id) != before)
        }
        guard isGranted else { return nil }
        return Reservation(memory, self, bytes, isArriving: false)
    }

    /// Bytes reserved by this account at present.
    package var used: Int { memory.used(by: id) }

    package func withdraw() { memory.change { $0.withdraw(id) } }

    package var isWanted: Bool { memory.isWanted }

    /// - Parameter bell: called from any thread, perhaps under a table's lock, when the account's threads should look
    ///   for work.
    package func setBell(_ bell: @escaping @Sendable () -> Void) { memory.setBell(of: id, bell) }

    /// Closes the account when its downloader ends: it gets no more room, and its bell is removed.
    package func close() {
        memory.setBell(of: id, nil)
        memory.change { $0.close(id) }
    }

    /// The memory reserved for one image.
    private final class Reservation: MemoryReserved {
        private let memory: DecodeMemory
        private let account: DecodeAccount
        private let taken: Atomic<Int>
        private let isArriving: Atomic<Bool>
        private let generation = ForkGeneration.current

        init(_ memory: DecodeMemory, _ account: DecodeAccount, _ bytes: Int, isArriving: Bool) {
            self.memory = memory
            self.account = account
            taken = Atomic(bytes)
            self.isArriving = Atomic(isArriving)
        }

        deinit { shrink(to: 0) }

        var bytes: Int { taken.load(ordering: .relaxed) }

        func settle() {
            guard isArriving.exchange(false, ordering: .relaxed), ForkGeneration.current == generation else { return }
            memory.change { $0.settle(bytes, of: account.id) }
        }

        func decoded(keeping bytes: Int) { shrink(to: account.keepsUndelivered ? bytes : 0) }

        func shrink(to bytes: Int) {
            var before = taken.load(ordering: .relaxed)
            repeat {
                if before <= bytes { return }
                let (exchanged, found) = taken.compareExchange(expected: before, desired: bytes, ordering: .relaxed)
                if exchanged { break }
                before = found
            } while true
            // A reservation of the parent does not count in a forked child.
            guard ForkGeneration.current == generation else { return }
            let isArriving = isArriving.load(ordering: .relaxed)
            memory.change { $0.giveBack(before - bytes, of: account.id, isArriving: isArriving) }
        }
    }
}
