/// The memory that pixels are written to. Memory of the application equals only itself.
package struct PixelMemory: Hashable, Sendable {
    package enum Owner: Hashable, Sendable {
        case library
        case allocator(PixelAllocator)
        case caller(PixelSpace)
    }

    package let owner: Owner
    /// Alignment of every row, a power of two.
    package let rowAlignment: Int

    package init(owner: Owner = .library, rowAlignment: Int = 1) {
        self.owner = owner
        self.rowAlignment = rowAlignment
    }

    package static let library = PixelMemory()

    /// True if the application lends the memory, which may then be too small.
    var isLent: Bool { if case .caller = owner { true } else { false } }

    /// The memory for previews. There may be many previews, but lent memory is for one picture only.
    var forPreview: PixelMemory { isLent ? PixelMemory(rowAlignment: rowAlignment) : self }
}

/// Memory that the application lends for the pixels of one picture.
package struct PixelSpace: Hashable, @unchecked Sendable {
    // Safety: the application keeps it, and leaves it alone, until it has released the picture.
    let base: UnsafeMutableRawPointer
    let size: Int
    /// Bytes from one row to the next; 0 means the smallest possible number.
    let stride: Int

    package init(base: UnsafeMutableRawPointer, size: Int, stride: Int) {
        self.base = base
        self.size = size
        self.stride = stride
    }
}

/// The application's functions that allocate and free pixel memory, on any thread.
package struct PixelAllocator: Hashable, @unchecked Sendable {
    package typealias Allocate =
        @convention(c) (_ size: Int, _ alignment: Int, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    package typealias Release =
        @convention(c) (UnsafeMutableRawPointer?, _ size: Int, UnsafeMutableRawPointer?) -> Void

    // Safety: the application states that its functions may be called with this pointer from any thread.
    private let allocate: Allocate
    private let release: Release
    private let userData: UnsafeMutableRawPointer?

    package init(allocate: @escaping Allocate, release: @escaping Release, userData: UnsafeMutableRawPointer?) {
        self.allocate = allocate
        self.release = release
        self.userData = userData
    }

    /// Returns `nil` if the application has no memory, or if its memory is not aligned as requested.
    func memory(_ size: Int, alignment: Int) -> UnsafeMutableRawPointer? {
        guard let base = allocate(size, alignment, userData) else { return nil }
        guard UInt(bitPattern: base) & UInt(alignment - 1) == 0 else {
            takeBack(base, size)
            return nil
        }
        return base
    }

    func takeBack(_ base: UnsafeMutableRawPointer, _ size: Int) { release(base, size, userData) }

    package static func == (one: Self, other: Self) -> Bool { one.addresses == other.addresses }

    package func hash(into hasher: inout Hasher) { hasher.combine(addresses) }

    private var addresses: [UInt] {
        [
            unsafeBitCast(allocate, to: UInt.self), unsafeBitCast(release, to: UInt.self), UInt(bitPattern: userData),
        ]
    }
}
