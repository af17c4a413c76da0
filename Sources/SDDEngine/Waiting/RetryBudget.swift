/// The retries left for each host. A retry takes one, and successful transfers slowly restore them, so that a server
/// that is down does not get many times its requests (row Z7). A value type without a clock. Its size is bounded: when
/// there are too many hosts, it forgets the host that has spent least.
struct RetryBudget {
    private struct Account {
        var spent = 0
        /// Successful transfers since the last retry was restored.
        var successes = 0
    }

    /// Successful transfers that restore one retry.
    static let price = 5
    static let mostHosts = 1024

    /// `nil` means no limit.
    private let most: Int?
    /// Accounts of hosts that have spent at least one retry.
    private var accounts: [UInt64: Account] = [:]

    init(most: Int?) { self.most = most }

    var hostCount: Int { accounts.count }

    func inHand(of host: UInt64) -> Int { most.map { $0 - (accounts[host]?.spent ?? 0) } ?? .max }

    /// Takes a retry.
    /// - Returns: false if the host has none left.
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
