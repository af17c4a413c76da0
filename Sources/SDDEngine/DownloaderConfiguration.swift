package import SDDTransport

/// How a downloader is to be; copied when it is made, defaults as in the header.
package struct DownloaderConfiguration: Sendable {
    package enum DeliveryMode: Sendable {
        /// A thread of its own, with what is to run first and last on it.
        case thread(start: @Sendable () -> Void, stop: @Sendable () -> Void)
        case host
    }

    package var delivery = DeliveryMode.thread(start: {}, stop: {})
    package var maxConcurrentDownloads = 6
    package var maxPixels = 128 << 20
    package var decodeThreads = 1
    package var transport = TransportConfiguration()

    package init() {}
}
