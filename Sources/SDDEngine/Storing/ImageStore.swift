package import SDDBase
package import SDDCoders

/// A memory level that the application keeps itself, in place of `MemoryCache`. Its functions do not block. They are
/// called on any thread, several at a time, with no lock held.
package protocol ImageStore: Sendable {
    func image(for key: String) -> Image?
    /// - Parameter cost: bytes that the image takes.
    func store(_ image: Image, cost: Int, for key: String)
    func remove(_ key: String)
    func removeAll()
    func trim(_ pressure: MemoryPressure)
}
