internal import CFork
internal import Glibc
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// What the process does to the library: forks and ends.

/// Kept for ever: see `endNetworksForExit`.
private let ended = Monitor<[Client]>([])

/// For who keeps something of the process's, or asks for memory for pixels: from the first use on, forks are prepared for.
func prepareForForks() {
    sddfork_once(SDDFORK_FIRST_USE) {
        // All that they use is made by this.
        lockForFork()
        unlockInParent()
        sddfork_set_handlers(
            sddfork_handlers(
                before: { lockForFork() }, in_parent: { unlockInParent() }, in_child: { beginInChild() }))
    }
}

// Keep whole across a fork what parent and child both go on with, the registries of handles and of tokens, the process's
// coders and the memory for pixels: nobody is inside while the process is copied, and the child begins with locks of its
// own. The locks of dead handles are never taken there.

private func lockForFork() {
    // In the order in which they are taken within one another.
    Handle.batches.lockForFork()
    Handle.loaders.lockForFork()
    Handle.caches.lockForFork()
    Handle.clients.lockForFork()
    HostCoderList.process.lockForFork()
    SpareMemory.lockForFork()
    DecodeMemory.ofProcess.lockForFork()
    TokenOwners.lockForFork()
}

private func unlockInParent() {
    TokenOwners.unlockInParent()
    DecodeMemory.ofProcess.unlockInParent()
    SpareMemory.unlockInParent()
    HostCoderList.process.unlockInParent()
    Handle.clients.unlockInParent()
    Handle.caches.unlockInParent()
    Handle.loaders.unlockInParent()
    Handle.batches.unlockInParent()
}

private func beginInChild() {
    TokenOwners.resetInChild()
    DecodeMemory.ofProcess.resetInChild()
    SpareMemory.resetInChild()
    HostCoderList.process.resetInChild()
    Handle.clients.resetInChild()
    Handle.caches.resetInChild()
    Handle.loaders.resetInChild()
    Handle.batches.resetInChild()
    ended.resetInChild()
    ForkGeneration.childBegins()
}

/// Handlers run in the reverse order of their registration: after libcurl's, and with it OpenSSL's, have been registered,
/// which the first downloader sees to, ours runs before them.
private let exitHandler: Void = { atexit { endForExit() } }()

/// To be called when there is something that must not run on while the process ends.
func prepareForExit() { exitHandler }

private func endForExit() {
    // Taken out: from now on every handle is dead, and no other thread destroys what is ended here. But not freed: their
    // other threads may be at work till the very end.
    let live = Handle.clients.removeLive()
    ended.withLock { $0 = live }
    for client in live { client.downloader.sayWhatIsLeft() }
    for client in live { client.downloader.endNetworkForExit(milliseconds: 2000) }
    for cache in Handle.caches.live { cache.writeForExit(milliseconds: 2000) }
}
