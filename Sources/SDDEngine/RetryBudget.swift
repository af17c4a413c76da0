/// How many retries a host has in hand: each takes one, and transfers that succeed bring them back slowly, so that a
/// server that is down is not asked many times over by all who want something of it (row Z7). A value; it knows no
/// clock. Bounded: of many hosts it forgets those that have lost least.
struct RetryBudget {
    private struct Account {
        var spent = 0
        /// Since the last one was earned.
        var successes = 0
    }

    /// Transfers that must succeed to earn one.
    static let price = 5
    static let mostHosts = 1024

    /// nil: no limit.
    private let most: Int?
    /// Of hosts that have not all in hand.
    private var accounts: [UInt64: Account] = [:]

    init(most: Int?) { self.most = most }

    var hostCount: Int { accounts.count }

    func inHand(of host: UInt64) -> Int { most.map { $0 - (accounts[host]?.spent ?? 0) } ?? .max }

    /// - Returns: false if there is none left.
    mutating func take(for host: UInt64) -> Bool {
        guard let most else { return true }
        var account = accounts[host] ?? Account()
        guard account.spent < most else { return false }
        account.spent += 1
        if accounts.count >= Self.mostHosts, accounts[host] == nil { forgetOne() }
        accounts[host] = account
        return true
    }

    mutating func succeeded(at host: UInt64) {
        guard !accounts.isEmpty, var account = accounts[host] else { return }
        account.successes += 1
        if account.successes == Self.price {
            account.successes = 0
            account.spent -= 1
        }
        accounts[host] = account.spent > 0 ? account : nil
    }

    private mutating func forgetOne() {
        guard let least = accounts.min(by: { $0.value.spent < $1.value.spent }) else { return }
        accounts[least.key] = nil
    }
}
