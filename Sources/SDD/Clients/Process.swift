internal import CFork
internal import CHelper
internal import Glibc
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// Forks and the exit of the process.

/// Downloaders that `endForExit` has ended. They are never freed, since their threads may still run.
private let ended = Monitor<[Client]>([])

/// Installs the fork handlers on first use. Must be called before process-wide state is kept or memory for pixels is
/// allocated.
func prepareForForks() {
    sddfork_once(SDDFORK_FIRST_USE) {
        // This initializes all globals that the handlers use.
        InstalledCoders.process.setSource(CoderFolders())
        lockForFork()
        unlockInParent()
        sddfork_set_handlers(
            sddfork_handlers(
                before: { lockForFork() }, in_parent: { unlockInParent() }, in_child: { beginInChild() }))
    }
}

// These functions keep the state that both parent and child go on using consistent across a fork: the registries of
// handles and tokens, the process's coders and the memory for pixels. All locks of that state are held during the fork,
// and the child starts with new locks. The child never takes the locks of objects behind dead handles.

private func lockForFork() {
    // A coder that is being loaded may use the library.
    InstalledCoders.process.awaitLoads()
    // The locks are taken in their nesting order.
    ended.lockForFork()
    Handle.batches.lockForFork()
    Handle.loaders.lockForFork()
    Handle.caches.lockForFork()
    Handle.clients.lockForFork()
    AppCoderList.process.lockForFork()
    InstalledCoders.process.lockForFork()
    SpareMemory.lockForFork()
    DecodeMemory.ofProcess.lockForFork()
    TokenOwners.lockForFork()
    sddhelper_lock_for_fork()
}

private func unlockInParent() {
    sddhelper_unlock_in_parent()
    TokenOwners.unlockInParent()
    DecodeMemory.ofProcess.unlockInParent()
    SpareMemory.unlockInParent()
    InstalledCoders.process.unlockInParent()
    AppCoderList.process.unlockInParent()
    Handle.clients.unlockInParent()
    Handle.caches.unlockInParent()
    Handle.loaders.unlockInParent()
    Handle.batches.unlockInParent()
    ended.unlockInParent()
}

private func beginInChild() {
    sddhelper_reset_in_child()
    TokenOwners.resetInChild()
    DecodeMemory.ofProcess.resetInChild()
    SpareMemory.resetInChild()
    AppCoderList.process.resetInChild()
    InstalledCoders.process.resetInChild()
    Handle.clients.resetInChild()
    Handle.caches.resetInChild()
    Handle.loaders.resetInChild()
    Handle.batches.resetInChild()
    ended.resetInChild()
    ForkGeneration.childBegins()
}

private let handlerOfCaches: Void = { atexit { endForExit() } }()
private let handlerOfDownloaders: Void = { atexit { endForExit() } }()

/// Registers an exit handler that writes what caches have not written yet. Called after creating a cache.
func writeCachesAtExit() { handlerOfCaches }

/// Registers an exit handler that ends the network threads. Exit handlers run in reverse order of registration, and this
/// one must run before those of libcurl and OpenSSL: called after creating a downloader, which initializes both. The
/// handler for caches may be registered long before that, so it does not serve.
func endNetworksAtExit() { handlerOfDownloaders }

/// May run twice; the second time there is nothing left to end.
private func endForExit() {
    // Removing them invalidates every handle, so that no other thread destroys a downloader that is ended here. They
    // are not freed, since their other threads may run until the process ends.
    let live = Handle.clients.removeLive()
    ended.withLock { $0 += live }
    for client in live { client.downloader.sayWhatIsLeft() }
    for client in live { client.downloader.endNetworkForExit(milliseconds: 2000) }
    for cache in Handle.caches.live { cache.writeForExit(milliseconds: 2000) }
}
