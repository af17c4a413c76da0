internal import SDDBase
import Synchronization

/// An observer of an image's memory use, such as a cache entry. Callable from any thread.
package protocol MemoryWatching: AnyObject, Sendable {
    /// Called when the image takes more or less memory than before, with no lock held.
    func memoryChanged(of image: Image)
    /// Whether both observers stand for the same cache entry.
    func isSame(as other: any MemoryWatching) -> Bool
}

/// The observers of one image, in a list that only grows. It has no lock, since another thread might hold that during a
/// fork and leave it locked in the child. Callable from any thread.
final class MemoryWatches: Sendable {
    private final class Watch: Sendable {
        let watcher: any MemoryWatching
        /// The next element, owned by the list.
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

    /// Adds an observer, unless there is one for the same cache entry. The caller then looks at the image's cost: it
    /// sees a change, or whoever has made that change sees the observer.
    func add(_ watcher: any MemoryWatching) {
        while true {
            let known = first.load(ordering: .acquiring)
            if contains(watcher, from: known) { return }
            let added = Unmanaged.passRetained(Watch(watcher, before: known))
            if first.compareExchange(expected: known, desired: added, ordering: .acquiringAndReleasing).exchanged {
                atomicMemoryFence(ordering: .sequentiallyConsistent)
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
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        var place = first.load(ordering: .acquiring)
        while let current = place?.takeUnretainedValue() {
            current.watcher.memoryChanged(of: image)
            place = current.next
        }
    }
}

extension Image {
    /// Bytes of everything the image keeps alive: its pixels, counted even before they are decoded; its encoded bytes,
    /// or the data that frames and pixels are still decoded from; frames that are preloaded or kept; its colour profile;
    /// and its metadata, once that has been read. It may grow while the image is used, see `addWatch`. Takes no lock.
    package var memoryCost: Int {
        let pixels = ready?.byteCount ?? width.multipliedSaturated(by: height).multipliedSaturated(by: 4)
        let frames = animation.map { $0.readyByteCount.addedSaturated($0.keptByteCount) } ?? 0
        return pixels.addedSaturated(encodedByteCount).addedSaturated(frames)
            .addedSaturated(colour?.byteCount ?? 0).addedSaturated(metadataByteCount)
    }

    private var encodedByteCount: Int { bytes?.count ?? animation?.encodedByteCount ?? undecodedByteCount }

    /// Notifies `watcher` of each change of `memoryCost` from now on, once per cache entry.
    package func addWatch(_ watcher: any MemoryWatching) { memoryWatches.add(watcher) }

    /// Notifies the observers that `memoryCost` may have changed.
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
