internal import CSystem
import Glibc
import Synchronization

/// Memory for pixels and bodies: checked, and reused while requests are under way. Such memory is written on one thread
/// and freed on another; malloc would return it to the kernel a few pages at a time and request it again, and each page
/// costs a fault. Large blocks of pixels are mapped, not malloc'ed: malloc would keep what is between blocks of other
/// sizes, for each thread. Thread-safe.
package final class SpareMemory: Sendable {
    package struct Block: @unchecked Sendable {
        // Safety: a plain address; a block is in the list or has one owner, never both.
        package let base: UnsafeMutableRawPointer
        package let size: Int
        /// True if the memory is a mapping of its own.
        fileprivate let isMapped: Bool

        fileprivate func release() {
            if isMapped { munmap(base, size) } else { Glibc.free(base) }
        }

        /// Returns the block in another size, perhaps in another place, with the pages that it has.
        fileprivate func resized(to newSize: Int) -> Block? {
            guard let moved = sddsys_resize_mapping(base, UInt64(size), UInt64(newSize)) else { return nil }
            return Block(base: moved, size: newSize, isMapped: true)
        }
    }

    private struct Spare {
        var blocks: [Block] = []
        var bytes = 0
    }

    /// Holds the pixels of the images that a few decode threads and the application have in use.
    package static let pixels = SpareMemory(mostBytes: 24 << 20, mapsFrom: 1 << 20)
    /// Holds the bodies of a busy loop.
    package static let bodies = SpareMemory(mostBytes: 4 << 20)

    /// The size in bytes below which malloc is just as good.
    package static let smallest = 4096

    private let mostBytes: Int
    private let spare = Monitor(Spare(), rank: .memory)
    /// The number of downloaders with requests under way. No memory is kept while it is 0.
    private static let users = Atomic<Int>(0)

    /// The size in bytes from which on a block is a mapping of its own.
    private let mapsFrom: Int

    init(mostBytes: Int, mapsFrom: Int = .max) { (self.mostBytes, self.mapsFrom) = (mostBytes, mapsFrom) }

    deinit { giveBack() }

    package func allocate(_ size: Int) -> Block? {
        let (kept, other) = spare.withLock { spare -> (Block?, Block?) in
            if let block = Self.take(size, from: &spare) { return (block, nil) }
            return (nil, size >= mapsFrom ? Self.takeNearest(size, from: &spare) : nil)
        }
        if let kept { return kept }
        guard let other else { return makeBlock(size) }
        if let block = other.resized(to: size) { return block }
        other.release()
        return makeBlock(size)
    }

    /// Allocates a block, in huge pages if it is big, which reduces the cost of page faults to an eighth. Where the
    /// system leaves the choice to the program, madvise asks for them; a refusal only loses that gain.
    private func makeBlock(_ size: Int) -> Block? {
        guard size >= Self.leastInHugePages, size <= Int.max - 2 * Self.hugePage else {
            return size >= mapsFrom ? Self.map(size) : Self.block(malloc(size), size)
        }
        let rounded = (size + Self.hugePage - 1) & ~(Self.hugePage - 1)
        let block =
            size >= mapsFrom
            ? Self.mapAligned(rounded) : Self.block(aligned_alloc(Self.hugePage, rounded), rounded)
        if let block { _ = madvise(block.base, rounded, MADV_HUGEPAGE) }
        return block
    }

    private static func block(_ base: UnsafeMutableRawPointer?, _ size: Int) -> Block? {
        base.map { Block(base: $0, size: size, isMapped: false) }
    }

    /// Maps whole huge pages, aligned to them: more is mapped, and both ends are cut.
    private static func mapAligned(_ size: Int) -> Block? {
        guard let block = map(size + hugePage) else { return nil }
        let lead = -Int(bitPattern: block.base) & (hugePage - 1)
        if lead > 0 { munmap(block.base, lead) }
        munmap(block.base + lead + size, hugePage - lead)
        return Block(base: block.base + lead, size: size, isMapped: true)
    }

    private static func map(_ size: Int) -> Block? {
        let access = PROT_READ | PROT_WRITE
        guard let base = mmap(nil, size, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), base != MAP_FAILED else {
            return nil
        }
        return Block(base: base, size: size, isMapped: true)
    }

    private static let hugePage = 2 << 20
    private static let leastInHugePages = 4 * hugePage

    /// Takes over a block that `allocate` has returned, as its address and size. Where no block is mapped, it may also
    /// be any block of malloc(3).
    package func adopt(_ base: UnsafeMutableRawPointer, size: Int) {
        free(Block(base: base, size: size, isMapped: size >= mapsFrom))
    }

    package func free(_ block: Block) {
        let isKept = spare.withLock { spare in
            guard Self.users.load(ordering: .relaxed) > 0, spare.bytes + block.size <= mostBytes else { return false }
            spare.blocks.append(block)
            spare.bytes += block.size
            return true
        }
        if !isKept { block.release() }
    }

    /// Takes the most recently freed block that fits without much waste: its pages are likely still in a CPU cache.
    private static func take(_ size: Int, from spare: inout Spare) -> Block? {
        let largest = size.addingReportingOverflow(size / 4).overflow ? size : size + size / 4
        guard let index = spare.blocks.lastIndex(where: { $0.size >= size && $0.size <= largest }) else { return nil }
        return remove(index, from: &spare)
    }

    /// Takes the mapped block whose size is nearest. It will be resized, which costs faults only for the pages that it
    /// lacks, so that there are hardly more blocks than were in use at a time. One that is to be much larger is better
    /// mapped anew, in huge pages.
    private static func takeNearest(_ size: Int, from spare: inout Spare) -> Block? {
        let nearest = spare.blocks.indices
            .filter { spare.blocks[$0].isMapped && (size < leastInHugePages || spare.blocks[$0].size >= size) }
            .min { abs(spare.blocks[$0].size - size) < abs(spare.blocks[$1].size - size) }
        return nearest.map { remove($0, from: &spare) }
    }

    private static func remove(_ index: Int, from spare: inout Spare) -> Block {
        let block = spare.blocks[index]
        spare.blocks.swapAt(index, spare.blocks.count - 1)
        spare.blocks.removeLast()
        spare.bytes -= block.size
        return block
    }

    private func giveBack() {
        let blocks = spare.withLock { spare -> [Block] in
            defer { spare = Spare() }
            return spare.blocks
        }
        for block in blocks { block.release() }
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
        if let block = bodies.allocate(1 << 20) { bodies.free(block) }
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
