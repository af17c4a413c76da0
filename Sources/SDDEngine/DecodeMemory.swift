import SDDBase
package import SDDCoders
import Synchronization

/// How much memory the pictures of this process take that are being decoded, or wait to be delivered, and who waits for
/// room. Any thread; who waits is a decode thread.
package final class DecodeMemory: Sendable {
    private struct State {
        var limit = 256 << 20
        var used = 0
        /// By downloader.
        var accounts: [UInt64: Int] = [:]
        var closed: Set<UInt64> = []
        var lastAccount: UInt64 = 0
    }

    package static let ofProcess = DecodeMemory()

    private let state = Monitor(State())

    package init() {}

    package var used: Int { state.withLock { $0.used } }
    package var limit: Int { state.withLock { $0.limit } }

    package func setLimit(_ bytes: Int) {
        state.withLock { $0.limit = bytes }
        state.broadcast()
    }

    /// For one downloader.
    package func makeAccount() -> DecodeAccount {
        DecodeAccount(
            self,
            state.withLock { state in
                state.lastAccount += 1
                return state.lastAccount
            })
    }

    /// An account that has nothing is always let in: so each downloader goes on, whatever the others keep, and a picture
    /// that is larger than the limit has its turn alone.
    fileprivate func take(_ bytes: Int, for account: UInt64, waits: Bool) -> Bool {
        state.wait { state -> Bool? in
            let own = state.accounts[account, default: 0]
            guard own == 0 || bytes <= state.limit - min(state.used, state.limit) else {
                return waits && !state.closed.contains(account) ? nil : false
            }
            // Each at most an eighth of what an Int holds, and few.
            state.used += bytes
            state.accounts[account] = own + bytes
            return true
        }
    }

    fileprivate func giveBack(_ bytes: Int, of account: UInt64) {
        state.withLock { state in
            state.used = max(0, state.used - bytes)
            guard let own = state.accounts[account] else { return }
            state.accounts[account] = own > bytes ? own - bytes : nil
        }
        state.broadcast()
    }

    fileprivate func close(_ account: UInt64) {
        _ = state.withLock { $0.closed.insert(account) }
        state.broadcast()
    }

    fileprivate func forget(_ account: UInt64) {
        state.withLock { state in
            state.closed.remove(account)
            state.accounts[account] = nil
        }
    }

    // A fork may come while another thread holds the lock, see `Monitor`.
    package func lockForFork() { state.lockForFork() }
    package func unlockInParent() { state.unlockInParent() }

    /// What the parent's pictures take is its own affair.
    package func resetInChild() {
        state.resetInChild()
        state.withLock { state in
            state.used = 0
            state.accounts = [:]
        }
    }
}

/// The part of it that one downloader's pictures take.
package final class DecodeAccount: MemoryKeeping {
    private let memory: DecodeMemory
    private let number: UInt64

    fileprivate init(_ memory: DecodeMemory, _ number: UInt64) {
        self.memory = memory
        self.number = number
    }

    deinit { memory.forget(number) }

    package func reserve(_ bytes: Int, waits: Bool) -> (any MemoryReserved)? {
        memory.take(bytes, for: number, waits: waits) ? Reservation(memory, self, bytes) : nil
    }

    /// The downloader ends: nobody waits any more.
    package func close() { memory.close(number) }

    /// What one picture takes.
    private final class Reservation: MemoryReserved {
        private let memory: DecodeMemory
        private let account: DecodeAccount
        private let bytes: Atomic<Int>
        private let generation = ForkGeneration.current

        init(_ memory: DecodeMemory, _ account: DecodeAccount, _ bytes: Int) {
            self.memory = memory
            self.account = account
            self.bytes = Atomic(bytes)
        }

        deinit { shrink(to: 0) }

        func shrink(to bytes: Int) {
            let before = self.bytes.exchange(bytes, ordering: .relaxed)
            // The parent's is not the child's.
            guard before > bytes, ForkGeneration.current == generation else { return }
            memory.giveBack(before - bytes, of: account.number)
        }
    }
}
