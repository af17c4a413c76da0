package import SDDCoders
package import SDDTransport

/// The configuration of a downloader, copied at its creation. The defaults are those of the header.
package struct DownloaderConfiguration: Sendable {
    package enum DeliveryMode: Sendable {
        /// Delivers on a thread of the library, with functions that run first and last on it.
        case thread(start: @Sendable () -> Void, stop: @Sendable () -> Void)
        case application
    }

    /// Where pictures are decoded.
    package enum DecodingPlace: Sendable {
        case inThisProcess
        /// In this process, but for those of coders that want isolation.
        case programsIsolated
        /// In processes of a program.
        case isolated(HelperProgram)
    }

    package var delivery = DeliveryMode.thread(start: {}, stop: {})
    package var decodeLimits = DecodeLimits()
    package var decodeThreads = 1
    /// The installed coders to use; `nil` means none.
    package var installedCoders: InstalledCoders?
    package var decoding = DecodingPlace.programsIsolated
    package var transport = TransportConfiguration()

    // Scheduling of transfers.
    package var maxConcurrentDownloads = 6
    package var maxConcurrentPerHost = 6
    package var minHostIntervalMilliseconds: Int64 = 0
    package var reservedUrgentSlots = 0
    package var order = WaitingOrder.fifo
    package var ageingMilliseconds: Int64 = 0
    package var minProgressInterval = 0.0
    package var minProgressMilliseconds: Int64 = 0
    package var minPreviewMilliseconds: Int64 = 100
    package var minPreviewBytes = 0
    package var minPreviewScans = 1

    // Retries (row Z7).
    /// Maximum number of transfers for one request, including the first.
    package var maxAttempts: Int32 = 1
    /// Maximum number of retries that one HTTP host may have in reserve; -1 means no limit.
    package var retryBudget: Int32 = 10
    package var retryDelayMilliseconds: Int64 = 500
    package var maxRetryDelayMilliseconds: Int64 = 30_000

    /// The level up to which the transport makes log messages; set by `Downloader.setLog`.
    package let logSwitch = LogSwitch()

    package init() {
        transport.logs = { [logSwitch] in logSwitch.level }
    }

    /// Returns the coders of a downloader.
    /// - Parameters:
    ///   - lists: the application's, in the order in which they are asked.
    ///   - memory: the account of what idle helpers keep.
    func registry(of lists: [AppCoderList], _ memory: any MemoryKeeping) -> CoderRegistry {
        let registry = CoderRegistry.builtIn.asking(lists, installed: installedCoders)
        switch decoding {
        case .inThisProcess: return registry
        case .programsIsolated:
            return registry.isolatingPrograms(by: InstalledCoders.process.makeHelpers(decodeLimits, memory: memory))
        case .isolated(let program): return registry.isolated(by: HelperPool(memory: memory) { program })
        }
    }
}
