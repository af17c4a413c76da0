internal import SDDBase
import Synchronization

/// Somebody who counts what an image holds: a place in a cache. Any thread.
package protocol MemoryWatching: AnyObject, Sendable {
    /// It takes more memory than before, or less. Called without a lock.
    func memoryChanged(of image: Image)
    /// The same place.
    func isSame(as other: any MemoryWatching) -> Bool
}

/// Who watches one image: a list that only grows. Without a lock, which in the child of a fork somebody might hold. Any
/// thread.
final class MemoryWatches: Sendable {
    private final class Watch: Sendable {
        let watcher: any MemoryWatching
        /// Owned by the list.
        let next: Unmanaged<Watch>?

        init(_ watcher: any MemoryWatching, before next: Unmanaged<Watch>?) {
            self.watcher = watcher
            self.next = next
        }
    }

    // Safety: it holds one reference to each watch of the list, from when that is added to the end of this object.
    private let first = Atomic<Unmanaged<Watch>?>(nil)

    deinit {
        var watch = first.load(ordering: .acquiring)
        while let current = watch {
            watch = current.takeUnretainedValue().next
            current.release()
        }
    }

    /// Does nothing if there is one for the same place.
    func add(_ watcher: any MemoryWatching) {
        while true {
            let known = first.load(ordering: .acquiring)
            if contains(watcher, from: known) { return }
            let added = Unmanaged.passRetained(Watch(watcher, before: known))
            if first.compareExchange(expected: known, desired: added, ordering: .acquiringAndReleasing).exchanged {
                return
            }
            added.release()
        }
    }

    private func contains(_ watcher: any MemoryWatching, from known: Unmanaged<Watch>?) -> Bool {
        var place = known
        while let current = place?.takeUnretainedValue() {
            if current.watcher.isSame(as: watcher) { return true }
            place = current.next
        }
        return false
    }

    func tell(of image: Image) {
        var place = first.load(ordering: .acquiring)
        while let current = place?.takeUnretainedValue() {
            current.watcher.memoryChanged(of: image)
            place = current.next
        }
    }
}

extension Image {
    /// Bytes of all that is kept as long as the image is: its pixels, also while they are not decoded yet; its encoded
    /// bytes, or what frames and pixels are still to be made of; frames that are ready, or kept; and its metadata, once
    /// that has been read. It may grow while the image is used: see `addWatch`. Takes no lock.
    package var memoryCost: Int {
        let pixels = ready?.byteCount ?? width.multipliedSaturated(by: height).multipliedSaturated(by: 4)
        let frames = animation.map { $0.readyByteCount.addedSaturated($0.keptByteCount) } ?? 0
        return pixels.addedSaturated(encodedByteCount).addedSaturated(frames).addedSaturated(metadataByteCount)
    }

    private var encodedByteCount: Int { bytes?.count ?? animation?.encodedByteCount ?? undecodedByteCount }

    /// From now on `watcher` is told of each change of `memoryCost`, once for each place.
    package func addWatch(_ watcher: any MemoryWatching) { memoryWatches.add(watcher) }

    /// `memoryCost` may be another now.
    func memoryChanged() { memoryWatches.tell(of: self) }
}

extension Int {
    fileprivate func multipliedSaturated(by other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }

    fileprivate func addedSaturated(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
