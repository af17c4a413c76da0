import SDDCoders

/// Decides how much room there is for decoded images. Called on any thread, also under a table's lock; it never blocks,
/// and calls no table.
protocol RoomKeeping: MemoryKeeping {
    /// Takes room for an image whose body is complete. If refused, the keeper waits in line among all downloaders of
    /// the process, and must ask again when it is woken.
    func ask(for bytes: Int) -> (any MemoryReserved)?
    /// Leaves the line: no body waits any more.
    func withdraw()
    /// Whether complete bodies of this downloader or another wait for room.
    var isWanted: Bool { get }
}
