internal import Glibc

/// Which locks may be held when another one is taken: only those of lower ranks. Most locks are `.inner`, so that none of
/// them is taken while another one is held.
public enum LockRank: UInt, Sendable, CaseIterable {
    /// The registries of handles, in the order in which the shared objects are made from one another.
    case batches, loaders, caches, downloaders
    /// The table of a downloader, which asks for room for pictures and takes what was submitted.
    case table
    case inner
    /// The lists of spare memory, which bytes go back to wherever their last reference ends.
    case memory
}

/// Checks in debug builds that each thread takes locks in the order of their ranks, so that no two threads ever wait for
/// one another, and that no lock is held where the library calls something that has locks of its own. In release builds
/// there is nothing of it. A fork takes many locks of one rank; it does so without this.
public enum LockOrder {
    #if DEBUG
        // The ranks that the thread holds, one bit each, in place of a pointer.
        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        private static var held: UInt {
            get { UInt(bitPattern: pthread_getspecific(key)) }
            set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
        }

        @usableFromInline static func willTake(_ rank: LockRank) {
            guard !isInOrder(rank, after: held) else { return held |= 1 << rank.rawValue }
            // Safety: only debug builds have this, whose purpose is to end at a wrong order.
            fatalError("A lock of rank \(rank) is taken while the locks \(ranks(in: held)) are held.")
        }

        @usableFromInline static func hasGivenBack(_ rank: LockRank) { held &= ~(1 << rank.rawValue) }

        private static func ranks(in held: UInt) -> [LockRank] {
            LockRank.allCases.filter { held >> $0.rawValue & 1 == 1 }
        }
    #endif

    /// Whether a lock may be taken by a thread that holds locks of some ranks, one bit each.
    package static func isInOrder(_ rank: LockRank, after held: UInt) -> Bool { held >> rank.rawValue == 0 }

    /// Ends the process, in a debug build, if the calling thread holds a lock. Called before the system's loader is: a
    /// thread that forks in the constructor of a shared object has the loader's lock, and waits for those of the library.
    package static func checkThatNoneIsHeld() {
        #if DEBUG
            // Safety: only debug builds have this, see `willTake`.
            precondition(held == 0, "The system's loader is called while the locks \(ranks(in: held)) are held.")
        #endif
    }
}
