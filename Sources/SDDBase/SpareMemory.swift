import Glibc
import Synchronization

/// Memory for pixels and bodies: malloc'ed, checked, and, while requests are under way, used again. It is
/// written on one thread and freed on another, a few pages at a time malloc would give it back to
/// the kernel and ask for it anew, and each page costs a fault. Any thread.
package final class SpareMemory: Sendable {
    package struct Block: @unchecked Sendable {
        // Safety: a plain address; a block is in the list or in the hands of one owner, never both.
        package let base: UnsafeMutableRawPointer
        package let size: Int
    }

    private struct Spare {
        var blocks: [Block] = []
        var bytes = 0
    }

    /// Enough for the pictures in the hands of a few decode threads and the host.
    package static let pixels = SpareMemory(mostBytes: 32 << 20)
    /// Enough for the bodies of a busy loop.
    package static let bodies = SpareMemory(mostBytes: 4 << 20)

    /// Below it malloc is as good.
    package static let smallest = 4096

    private let mostBytes: Int
    private let spare = Monitor(Spare())
    /// Downloaders with requests under way. Nothing is kept when there are none.
    private static let users = Atomic<Int>(0)

    init(mostBytes: Int) { self.mostBytes = mostBytes }

    deinit { giveBack() }

    package func allocate(_ size: Int) -> Block? {
        spare.withLock { Self.take(size, from: &$0) } ?? Self.makeBlock(size)
    }

    /// In huge pages, if it is big: an eighth of the faults' cost. Asked for where the system leaves it to the program;
    /// a refusal costs nothing but that.
    private static func makeBlock(_ size: Int) -> Block? {
        guard size >= 4 * hugePage, size <= Int.max - hugePage else {
            return malloc(size).map { Block(base: $0, size: size) }
        }
        let rounded = (size + hugePage - 1) & ~(hugePage - 1)
        guard let base = aligned_alloc(hugePage, rounded) else { return nil }
        _ = madvise(base, rounded, MADV_HUGEPAGE)
        return Block(base: base, size: rounded)
    }

    private static let hugePage = 2 << 20

    package func adopt(_ base: UnsafeMutableRawPointer, size: Int) { free(Block(base: base, size: size)) }

    package func free(_ block: Block) {
        let isKept = spare.withLock { spare in
            guard Self.users.load(ordering: .relaxed) > 0, spare.bytes + block.size <= mostBytes else { return false }
            spare.blocks.append(block)
            spare.bytes += block.size
            return true
        }
        if !isKept { Glibc.free(block.base) }
    }

    /// The block freed last, of those that fit without much waste: its pages are likely still in a cache.
    private static func take(_ size: Int, from spare: inout Spare) -> Block? {
        let largest = size.addingReportingOverflow(size / 4).overflow ? size : size + size / 4
        guard let index = spare.blocks.lastIndex(where: { $0.size >= size && $0.size <= largest }) else { return nil }
        let block = spare.blocks[index]
        spare.blocks.swapAt(index, spare.blocks.count - 1)
        spare.blocks.removeLast()
        spare.bytes -= block.size
        return block
    }

    private func giveBack() {
        let blocks = spare.withLock { spare -> [Block] in
            defer { spare.blocks = [] }
            spare.bytes = 0
            return spare.blocks
        }
        for block in blocks { Glibc.free(block.base) }
    }
}

extension SpareMemory {
    /// Requests are under way: freed memory is worth keeping. Balanced by `endUse`.
    package static func beginUse() {
        teachMalloc()
        users.add(1, ordering: .relaxed)
    }

    /// For pictures that are decoded without a request, too. Costs nothing but the first time.
    package static func teachMalloc() { hasTaughtMalloc }

    /// glibc learns from the first big block that is freed how much to keep at hand (mallopt(3), on the dynamic
    /// threshold). Before, it gives the kernel back whatever comes to 128 KiB, and asks for it anew, a fault a page.
    private static let hasTaughtMalloc: Void = {
        if let block = pixels.allocate(1 << 20) { pixels.free(block) }
    }()

    /// None is any more. The last user gives all spare memory back.
    package static func endUse() {
        guard users.subtract(1, ordering: .relaxed).newValue == 0 else { return }
        pixels.giveBack()
        bodies.giveBack()
    }

    // A fork may come while another thread holds a lock, see `Monitor`: the child has pictures of its own
    // to decode, and the parent's to let go.
    package static func lockForFork() {
        pixels.spare.lockForFork()
        bodies.spare.lockForFork()
    }

    package static func unlockInParent() {
        bodies.spare.unlockInParent()
        pixels.spare.unlockInParent()
    }

    package static func resetInChild() {
        pixels.spare.resetInChild()
        bodies.spare.resetInChild()
        // The parent's downloaders are dead here, and will never say that they are done.
        users.store(0, ordering: .relaxed)
    }
}
