internal import SDDBase

/// Chooses the failures of a cache that are told: the first one, and then at most one a minute, since a full disk fails
/// with every store. Thread-safe.
package final class FailureLog: Sendable {
    /// - Parameter count: the number of failures since the last one that was told, this one included.
    package typealias Teller = @Sendable (_ error: CacheError, _ count: Int64) -> Void

    private struct State {
        var teller: Teller?
        var lastTold: Int64?
        var count: Int64 = 0
    }

    private static let pause: Int64 = 60_000_000

    private let state = Monitor(State())
    private let time: any TimeSource

    init(time: any TimeSource) { self.time = time }

    func setTeller(_ teller: @escaping Teller) { state.withLock { $0.teller = teller } }

    func failed(_ error: CacheError) {
        let now = time.monotonicMicroseconds()
        let told = state.withLock { state -> (Teller, Int64)? in
            state.count += 1
            guard let teller = state.teller, state.lastTold.map({ now - $0 >= Self.pause }) ?? true else { return nil }
            defer { (state.lastTold, state.count) = (now, 0) }
            return (teller, state.count)
        }
        if let (teller, count) = told { teller(error, count) }
    }
}
