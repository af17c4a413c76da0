public import Synchronization

/// A reference that is set once, by whichever thread is first. The same as the standard library's `AtomicLazyReference`,
/// whose atomic operations the thread sanitizer does not see: it then reports races that are none. `public` for the
/// reason that `Monitor` is. Any thread.
public struct OnceReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    // Safety: 0, or the address of an object with a reference that is kept until the end of this.
    @usableFromInline let address = Atomic<UInt>(0)

    public init() {}

    deinit { Self.reference(to: address.load(ordering: .acquiring))?.release() }

    @inlinable public func load() -> Object? {
        Self.reference(to: address.load(ordering: .acquiring))?.takeUnretainedValue()
    }

    /// - Returns: what is set from now on: `object`, unless another thread was first.
    @inlinable public func storeIfNil(_ object: Object) -> Object {
        let own = Unmanaged.passRetained(object)
        let (isStored, original) = address.compareExchange(
            expected: 0, desired: UInt(bitPattern: own.toOpaque()), ordering: .acquiringAndReleasing)
        guard !isStored, let first = Self.reference(to: original) else { return object }
        own.release()
        return first.takeUnretainedValue()
    }

    @usableFromInline static func reference(to address: UInt) -> Unmanaged<Object>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
    }
}
