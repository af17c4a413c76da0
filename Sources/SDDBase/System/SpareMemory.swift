import Glibc
import Synchronization

/// Memory for pixels and bodies: malloc'ed, checked, and reused while requests are under way. Such memory is written on
/// one thread and freed on another; malloc would return it to the kernel a few pages at a time and request it again,
/// and each page costs a fault. Thread-safe.
package final class SpareMemory: Sendable {
    package struct Block: @unchecked Sendable {
        // Safety: a plain address; a block is in the list or has one owner, never both.
        package let base: UnsafeMutableRawPointer
        package let size: Int
    }

    private struct Spare {
        var blocks: [Block] = []
        var bytes = 0
    }

    /// Holds the pixels of the images that a few decode threads and the application have in use.
    package static let pixels = SpareMemory(mostBytes: 32 << 20)
    /// Holds the bodies of a busy loop.
    package static let bodies = SpareMemory(mostBytes: 4 << 20)

    /// The size in bytes below which malloc is just as good.
    package static let smallest = 4096

    private let mostBytes: Int
    private let spare = Monitor(Spare())
    /// The number of downloaders with requests under way. No memory is kept while it is 0.
    private static let users = Atomic<Int>(0)

    init(mostBytes: Int) { self.mostBytes = mostBytes }

    deinit { giveBack() }

    package func allocate(_ size: Int) -> Block? {
        spare.withLock { Self.take(size, from: &$0) } ?? Self.makeBlock(size)
    }

    /// Allocates a block, in huge pages if it is big, which reduces the cost of page faults to an eighth. Where the
    /// system leaves the choice to the program, madvise asks for them; a refusal only loses that gain.
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

    /// Takes the most recently freed block that fits without much waste: its pages are likely still in a CPU cache.
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
    /// Marks the beginning of requests: from now on freed memory is kept. Balanced by `endUse`.
    package static func beginUse() {
        teachMalloc()
        users.add(1, ordering: .relaxed)
    }

    /// Raises malloc's threshold, also for images that are decoded without a request. Only the first call costs
    /// anything.
    package static func teachMalloc() { hasTaughtMalloc }

    /// glibc adapts its threshold when the first large block is freed (mallopt(3), "dynamic mmap threshold"). Until
    /// then it returns every block from 128 KiB on to the kernel and requests it again, with a fault per page.
    private static let hasTaughtMalloc: Void = {
        if let block = pixels.allocate(1 << 20) { pixels.free(block) }
    }()

    /// Marks the end of a downloader's requests. The last user frees all spare memory.
    package static func endUse() {
        guard users.subtract(1, ordering: .relaxed).newValue == 0 else { return }
        pixels.giveBack()
        bodies.giveBack()
    }

    // A fork may happen while another thread holds a lock, see `Monitor`: the child must be able to decode its own
    // images and to free the parent's.
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
        // The parent's downloaders do not run here and never call `endUse`.
        users.store(0, ordering: .relaxed)
    }
}
