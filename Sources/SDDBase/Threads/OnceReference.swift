public import Synchronization

/// A reference that is set once, by the first thread to do so. Equivalent to the standard library's
/// `AtomicLazyReference`, whose atomic operations the thread sanitizer does not see, so that it reports races that do
/// not exist. `public` for the same reason as `Monitor`. Thread-safe.
public struct OnceReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    // Safety: 0, or the address of an object that this holds a reference to until `deinit`.
    @usableFromInline let address = Atomic<UInt>(0)

    public init() {}

    deinit { Self.reference(to: address.load(ordering: .acquiring))?.release() }

    @inlinable public func load() -> Object? {
        Self.reference(to: address.load(ordering: .acquiring))?.takeUnretainedValue()
    }

    /// - Returns: the stored object, which is `object` unless another thread was first.
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
