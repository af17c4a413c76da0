package import SDDBase

/// Decoded images in memory by key: the most recently used ones within the limits, and the ones that the application
/// still holds. A hit allocates nothing. Not generic, so that it is compiled once, in this module; callers cast the
/// objects to the type they stored. Thread-safe.
package final class MemoryCache: Sendable {
    package typealias Object = AnyObject & Sendable

    /// Counters since the cache was created; they wrap around.
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

    /// Whether there is an object for the key. Neither updates the counters nor counts as a use.
    package func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        // This may be the last reference by now; it is released after the lock.
        let object = state.withLock { $0.store.peek(key) }
        return withExtendedLifetime(object) { object != nil }
    }

    /// - Parameter cost: the bytes of everything the object holds.
    package func set(_ object: any Object, cost: Int, for key: UnsafeRawBufferPointer) {
        let old = state.withLock { $0.store.set(object, cost: cost, for: key) }
        withExtendedLifetime(old) {}
        releaseEvicted()
    }

    /// Updates the cost of an object that now needs more or less memory than when it was stored. Does nothing if the
    /// object is no longer there.
    /// - Parameter cost: called under the lock, so that the value of the last call wins.
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

    /// Removes all objects, including the ones that are found only because the application holds them.
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
        // Sweeps the items whose objects had been freed already or have just been freed.
        state.withLock { $0.store.sweep($0.store.slotCount) }
        releaseEvicted()
    }

    // MARK: Statistics

    /// The bytes of the objects that the cache holds strongly.
    package var totalCost: Int { state.withLock { $0.store.totalCost } }
    package var count: Int { state.withLock { $0.store.count } }

    package var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.evictions = state.store.evictions
            return counts
        }
    }

    /// Releases the evicted objects one by one without the lock, since the last reference to an image frees its pixels.
    /// The extended lifetimes here and above serve the same purpose: without them a reference may be released right
    /// after its last use, under the lock.
    private func releaseEvicted() {
        while let object = state.withLock({ $0.store.takeEvicted() }) {
            withExtendedLifetime(object) {}
        }
    }
}
