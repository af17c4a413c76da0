/// Decides how much memory pictures may take together. Callable from any thread; no call blocks.
package protocol MemoryKeeping: Sendable {
    /// Reserves memory, if there is room now.
    /// - Parameter isArriving: true if more of the picture's body is still to come; its memory may be reclaimed until
    ///   then.
    /// - Returns: the reservation, which ends with its last reference; `nil` if there is no room now.
    func reserve(_ bytes: Int, isArriving: Bool) -> (any MemoryReserved)?
}

/// Memory that has been reserved. Callable from any thread.
package protocol MemoryReserved: AnyObject, Sendable {
    /// Bytes that are still reserved.
    var bytes: Int { get }
    /// Releases all but so many bytes; 0 releases everything. May be called at any time and more than once.
    func shrink(to bytes: Int)
    /// Records that the body has arrived: the memory is not reclaimed any more.
    func settle()
    /// Records that the picture is decoded and takes `bytes` until it has been delivered.
    func decoded(keeping bytes: Int)
}
