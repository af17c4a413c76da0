import SDDBase
package import SDDCoders
import Synchronization

/// How much memory the pictures of this process take that are being decoded, or wait to be delivered, and which
/// downloaders wait for room. Nobody waits inside of it: whoever is refused does something else, and is woken. Any thread.
package final class DecodeMemory: Sendable {
    private struct State {
        var ledger = RoomLedger()
        /// Called, with no lock held, when an account may get room or is to give some up.
        var bells: [UInt64: @Sendable () -> Void] = [:]
    }

    package static let ofProcess = DecodeMemory()

    private let state = Monitor(State())
    /// Complete bodies wait for room; read without the lock.
    private let isShort = Atomic(false)

    package init() {}

    package var used: Int { state.withLock { $0.ledger.used } }
    package var limit: Int { state.withLock { $0.ledger.limit } }
    /// The limit that 0 stands for.
    package static var standardLimit: Int { RoomLedger().limit }

    fileprivate func used(by account: UInt64) -> Int {
        state.withLock { $0.ledger.held(by: account) + $0.ledger.arriving(of: account) }
    }

    package func setLimit(_ bytes: Int) { change { $0.limit = bytes } }

    /// Makes an account for a downloader, which may have two: see `DecodeAccount`.
    package func makeAccount(keepsUndelivered: Bool = true) -> DecodeAccount {
        DecodeAccount(self, change { $0.makeAccount() }, keepsUndelivered: keepsUndelivered)
    }

    fileprivate var isWanted: Bool { isShort.load(ordering: .relaxed) }

    fileprivate func setBell(of account: UInt64, _ bell: (@Sendable () -> Void)?) {
        let old = state.withLock { state in
            defer { state.bells[account] = bell }
            return state.bells[account]
        }
        // Let go without the lock.
        withExtendedLifetime(old) {}
    }

    fileprivate func change<Outcome>(_ event: (inout RoomLedger) -> Outcome) -> Outcome {
        let (outcome, bells) = state.withLock { state in
            let outcome = event(&state.ledger)
            let isShort = !state.ledger.line.isEmpty
            if isShort || self.isShort.load(ordering: .relaxed) { self.isShort.store(isShort, ordering: .relaxed) }
            return (outcome, state.ledger.wakes.compactMap { state.bells[$0] })
        }
        for bell in bells { bell() }
        return outcome
    }

    // A fork may come while another thread holds the lock, see `Monitor`.
    package func lockForFork() { state.lockForFork() }
    package func unlockInParent() { state.unlockInParent() }

    /// The child of a fork begins without the room that its parent's pictures take.
    package func resetInChild() {
        state.resetInChild()
        isShort.store(false, ordering: .relaxed)
        state.withLock { state in
            state.ledger.startOver()
            state.bells = [:]
        }
    }
}

/// The room that pictures of one downloader take together. A downloader has two accounts: in one, pictures count until
/// they have been delivered; in the other, which is for requests that are told their end at once, until they are
/// decoded. So what waits in the second one waits for decode threads alone, never for a delivery: a thread that blocks
/// until its request has ended, even inside a callback that holds up all deliveries, is not behind what waits for that
/// thread.
package final class DecodeAccount: RoomKeeping {
    private let memory: DecodeMemory
    private let number: UInt64
    private let keepsUndelivered: Bool
    private let generation = ForkGeneration.current

    fileprivate init(_ memory: DecodeMemory, _ number: UInt64, keepsUndelivered: Bool) {
        self.memory = memory
        self.number = number
        self.keepsUndelivered = keepsUndelivered
    }

    deinit {
        // Accounts in a forked child begin again at 1: the parent's number may be another's there.
        guard ForkGeneration.current == generation else { return }
        memory.setBell(of: number, nil)
        memory.change { $0.forget(number) }
    }

    package func reserve(_ bytes: Int, isArriving: Bool) -> (any MemoryReserved)? {
        guard memory.change({ $0.take(bytes, for: number, isArriving: isArriving) }) else { return nil }
        return Reservation(memory, self, bytes, isArriving: isArriving)
    }

    package func ask(for bytes: Int) -> (any MemoryReserved)? {
        guard memory.change({ $0.ask(bytes, for: number) }) else { return nil }
        return Reservation(memory, self, bytes, isArriving: false)
    }

    /// The room that its pictures have now.
    package var used: Int { memory.used(by: number) }

    package func withdraw() { memory.change { $0.withdraw(number) } }

    package var isWanted: Bool { memory.isWanted }

    /// - Parameter bell: called from any thread, perhaps under a table's lock, when the account's threads are to look
    ///   for work.
    package func setBell(_ bell: @escaping @Sendable () -> Void) { memory.setBell(of: number, bell) }

    /// The downloader ends: it gets no more room, and hears of none.
    package func close() {
        memory.setBell(of: number, nil)
        memory.change { $0.close(number) }
    }

    /// The room of one picture.
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
            memory.change { $0.settle(bytes, of: account.number) }
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
            // The parent's is not the child's.
            guard ForkGeneration.current == generation else { return }
            let isArriving = isArriving.load(ordering: .relaxed)
            memory.change { $0.giveBack(before - bytes, of: account.number, isArriving: isArriving) }
        }
    }
}
