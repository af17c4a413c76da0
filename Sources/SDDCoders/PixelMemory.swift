import Glibc
import SDDBase
import Synchronization

/// Memory for pixels: malloc'ed, checked, and, while pictures are being made, used again. Pixels are
/// written on one thread and freed on another, a few pages at a time malloc would give the memory back to
/// the kernel and ask for it anew, and each page costs a fault. Any thread.
package enum PixelMemory {
    struct Block {
        let base: UnsafeMutableRawPointer
        let size: Int
    }

    private struct Spare {
        var blocks: [Block] = []
        var bytes = 0
    }

    /// Enough for the pictures in the hands of a few decode threads and the host.
    private static let mostSpareBytes = 32 << 20

    // Safety: `Block` is a plain address; a block is in the list or in one `PixelBuffer`, never both.
    private static let spare = Monitor(Spare())
    /// Downloaders with requests under way. Nothing is kept when there are none.
    private static let users = Atomic<Int>(0)

    static func allocate(_ size: Int) -> Block? {
        spare.withLock { take(size, from: &$0) } ?? malloc(size).map { Block(base: $0, size: size) }
    }

    static func free(_ block: Block) {
        let isKept = spare.withLock { spare in
            guard users.load(ordering: .relaxed) > 0, spare.bytes + block.size <= mostSpareBytes else { return false }
            spare.blocks.append(block)
            spare.bytes += block.size
            return true
        }
        if !isKept { Glibc.free(block.base) }
    }

    /// The block freed last, of those that fit without much waste: its pages are likely still in a cache.
    private static func take(_ size: Int, from spare: inout Spare) -> Block? {
        let largest = size + size / 4
        guard let index = spare.blocks.lastIndex(where: { $0.size >= size && $0.size <= largest }) else { return nil }
        let block = spare.blocks.remove(at: index)
        spare.bytes -= block.size
        return block
    }

    // A fork may come while another thread holds the lock, see `Monitor`: the child has pictures of its own
    // to decode, and the parent's to let go.
    package static func lockForFork() { spare.lockForFork() }
    package static func unlockInParent() { spare.unlockInParent() }
    package static func resetInChild() {
        spare.resetInChild()
        // The parent's downloaders are dead here, and will never say that they are done.
        users.store(0, ordering: .relaxed)
    }

    /// Requests are under way: freed memory is worth keeping. Balanced by `endUse`.
    package static func beginUse() { users.add(1, ordering: .relaxed) }

    /// None is any more. The last user gives all spare memory back.
    package static func endUse() {
        guard users.subtract(1, ordering: .relaxed).newValue == 0 else { return }
        let blocks = spare.withLock { spare -> [Block] in
            defer { spare.blocks = [] }
            spare.bytes = 0
            return spare.blocks
        }
        for block in blocks { Glibc.free(block.base) }
    }
}
