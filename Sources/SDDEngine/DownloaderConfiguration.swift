package import SDDCoders
package import SDDTransport

/// How a downloader is to be; copied when it is made, defaults as in the header.
package struct DownloaderConfiguration: Sendable {
    package enum DeliveryMode: Sendable {
        /// A thread of its own, with what is to run first and last on it.
        case thread(start: @Sendable () -> Void, stop: @Sendable () -> Void)
        case host
    }

    package enum Order: Sendable { case fifo, lifo }

    package var delivery = DeliveryMode.thread(start: {}, stop: {})
    package var decodeLimits = DecodeLimits()
    package var decodeThreads = 1
    package var transport = TransportConfiguration()

    // What runs when.
    package var maxConcurrentDownloads = 6
    package var maxConcurrentPerHost = 6
    package var minHostIntervalMilliseconds: Int64 = 0
    package var reservedUrgentSlots = 0
    package var order = Order.fifo
    package var ageingMilliseconds: Int64 = 0
    package var minProgressInterval = 0.0
    package var minProgressMilliseconds: Int64 = 0
    package var minPreviewMilliseconds: Int64 = 100
    package var minPreviewBytes = 0
    package var minPreviewScans = 1

    // What is tried again: row Z7.
    /// Transfers for one request, the first included.
    package var maxAttempts: Int32 = 1
    /// Retries that a host may have in hand; -1: no limit.
    package var retryBudget: Int32 = 10
    package var retryDelayMilliseconds: Int64 = 500
    package var maxRetryDelayMilliseconds: Int64 = 30_000

    /// What the transport makes messages by; set by `Downloader.setLog`.
    package let logSwitch = LogSwitch()

    package init() {
        transport.logs = { [logSwitch] in logSwitch.level }
    }
}

extension DownloaderConfiguration.Order {
    var ofQueue: WaitingQueue.Order { self == .fifo ? .fifo : .lifo }
}
