internal import SDDBase
internal import SDDCoders
internal import SDDEngine

/// The objects behind C handles. No other file resolves them with `Unmanaged`.
///
/// Handles of downloaders, caches, loaders and batches are ids, see `HandleRegistry`; those of images, bytes and other
/// objects are counted references. `Downloaders`, `Caches` and `Loaders` look up handles where NULL is a shared object.
enum Handle {
    static let caches = HandleRegistry<ImageCache>(.cache)
    static let batches = HandleRegistry<Batch>(.batch)

    // MARK: Batches

    static func batch(_ handle: OpaquePointer?) throws(Refusal) -> Batch {
        guard let handle else { throw .null("batch") }
        return try batches.object(handle, "batch")
    }

    // MARK: Counted objects

    static func borrowed(_ object: AnyObject?) -> OpaquePointer? {
        object.map { OpaquePointer(Unmanaged.passUnretained($0).toOpaque()) }
    }

    /// Returns a handle with a new reference, which must be released with `release`.
    static func retained(_ object: AnyObject?) -> OpaquePointer? {
        object.map { OpaquePointer(Unmanaged.passRetained($0).toOpaque()) }
    }

    static func image(_ handle: OpaquePointer?) -> Image? { object(handle) }
    static func bytes(_ handle: OpaquePointer?) -> Bytes? { object(handle) }
    static func response(_ handle: OpaquePointer?) -> Response? { object(handle) }

    /// Takes over a reference to bytes that the application passes to the library.
    static func takenOver(_ handle: OpaquePointer?) -> Bytes? {
        handle.map { Unmanaged<Bytes>.fromOpaque(UnsafeRawPointer($0)).takeRetainedValue() }
    }

    /// Takes over a reference to an image that the application passes to the library for good.
    static func takenOverImage(_ handle: OpaquePointer?) -> Image? {
        let image = handle.map { Unmanaged<Image>.fromOpaque(UnsafeRawPointer($0)).takeRetainedValue() }
        return image.flatMap { try? $0.outlivingLentMemory() }
    }

    // Safety: the library's header requires that the caller holds or borrows a reference to the object.
    static func object<Object: AnyObject>(_ handle: OpaquePointer?) -> Object? {
        handle.map { Unmanaged<Object>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    static func retain(_ handle: OpaquePointer?) {
        if let handle { _ = Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(handle)).retain() }
    }

    static func release(_ handle: OpaquePointer?) {
        if let handle { Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(handle)).release() }
    }
}
