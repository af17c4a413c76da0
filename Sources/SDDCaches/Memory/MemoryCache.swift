package import SDDBase

/// Decoded pictures in memory, by key: the last used ones, as far as the limits go, and those that the host still holds.
/// A hit allocates nothing. Not generic, so that it is compiled once, here: who knows what was stored casts. Any thread.
package final class MemoryCache: Sendable {
    package typealias Object = AnyObject & Sendable

    /// Since the cache was made; they wrap around.
    package struct Counts: Equatable, Sendable {
        package var hits: UInt64 = 0
        package var misses: UInt64 = 0
        package var evictions: UInt64 = 0
    }

    private struct State {
        var store: LRUStore
        var counts = Counts()
    }

    private let state: Monitor<State>

    package init(limits: MemoryLimits = .standard) { state = Monitor(State(store: LRUStore(limits: limits))) }

    // MARK: Objects

    package func object(for key: UnsafeRawBufferPointer) -> (any Object)? {
        let (object, hasEvicted) = state.withLock { state in
            let object = state.store.object(for: key)
            if object == nil { state.counts.misses &+= 1 } else { state.counts.hits &+= 1 }
            return (object, state.store.hasEvicted)
        }
        if hasEvicted { releaseEvicted() }
        return object
    }

    /// Neither counts nor is a use.
    package func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        // It may be the last reference by now, and goes when the lock has gone.
        let object = state.withLock { $0.store.peek(key) }
        return withExtendedLifetime(object) { object != nil }
    }

    /// - Parameter cost: bytes of all that it holds.
    package func set(_ object: any Object, cost: Int, for key: UnsafeRawBufferPointer) {
        let old = state.withLock { $0.store.set(object, cost: cost, for: key) }
        withExtendedLifetime(old) {}
        releaseEvicted()
    }

    /// An object takes more than when it was stored, or less. Does nothing if it is not there any more.
    /// - Parameter cost: called under the lock, so that the last to be called has the last word.
    package func costChanged(of object: AnyObject, for key: UnsafeRawBufferPointer, to cost: () -> Int) {
        state.withLock { $0.store.costChanged(of: object, for: key, to: cost) }
        releaseEvicted()
    }

    /// - Returns: whether there was one.
    @discardableResult
    package func remove(_ key: UnsafeRawBufferPointer) -> Bool {
        let old = state.withLock { $0.store.remove(key) }
        return withExtendedLifetime(old) { old != nil }
    }

    /// Also what is only found because the host holds it.
    package func removeAll() {
        let old = state.withLock { $0.store.removeAll() }
        withExtendedLifetime(old) {}
    }

    // MARK: Limits

    package var limits: MemoryLimits {
        get { state.withLock { $0.store.limits } }
        set {
            state.withLock { $0.store.limitsChanged(to: newValue) }
            releaseEvicted()
        }
    }

    package func trim(_ pressure: MemoryPressure) {
        state.withLock { state in
            switch pressure {
            case .moderate: state.store.trim(toCost: state.store.totalCost / 2, count: .max)
            case .critical: state.store.trim(toCost: 0, count: 0)
            }
        }
        releaseEvicted()
        // What was dead, and what has just died.
        state.withLock { $0.store.sweep($0.store.slotCount) }
        releaseEvicted()
    }

    // MARK: Figures

    /// Bytes of what it holds.
    package var totalCost: Int { state.withLock { $0.store.totalCost } }
    package var count: Int { state.withLock { $0.store.count } }

    package var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.evictions = state.store.evictions
            return counts
        }
    }

    /// One after the other, without the lock: the last reference to a picture frees its pixels. So too above: extended
    /// lifetimes, or a reference may go as early as its last use, under the lock.
    private func releaseEvicted() {
        while let object = state.withLock({ $0.store.takeEvicted() }) {
            withExtendedLifetime(object) {}
        }
    }
}
