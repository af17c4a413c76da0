internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// One character is no StaticString with a pointer of its own.
private let any: StaticString = "*"

/// A config as the host gave it, with copies of its strings: what `sdd_downloader_get_config` gives back. Immutable.
struct GivenConfig: @unchecked Sendable {
    // Safety: what it points to are the texts, which it keeps, and data of the host's that is only handed back.
    private let config: sdd_downloader_config
    private let texts: [CText]

    init(_ given: sdd_downloader_config) {
        var config = given
        var texts: [CText] = []
        func keep(_ field: WritableKeyPath<sdd_downloader_config, UnsafePointer<CChar>?>) {
            guard let text = config[keyPath: field].map({ CText(String(cString: $0)) }) else { return }
            texts.append(text)
            config[keyPath: field] = text.pointer
        }
        for field in Self.strings { keep(field) }
        // Secrets, the host's data, and a list: not given back.
        config.credential = nil
        config.modifiers = nil
        config.resolve = nil
        config.resolve_count = 0
        self.config = config
        self.texts = texts
    }

    private static var strings: [WritableKeyPath<sdd_downloader_config, UnsafePointer<CChar>?>] {
        [
            \.ca_file, \.ca_path, \.accepted_status_codes, \.accepted_content_types, \.proxy, \.no_proxy,
            \.network_interface, \.unix_socket_path, \.dns_servers, \.cookie_file,
        ]
    }

    /// With what has changed since, and with the defaults in place of zeros.
    func filled(with current: DownloaderConfiguration, _ defaults: RequestDefaults) -> sdd_downloader_config {
        var config = config
        config.max_concurrent_downloads = Int32(clamping: current.maxConcurrentDownloads)
        config.max_concurrent_per_host = Int32(clamping: current.maxConcurrentPerHost)
        config.min_host_interval_ms = current.minHostIntervalMilliseconds
        config.max_attempts = current.maxAttempts
        config.retry_budget = current.retryBudget
        config.retry_delay_ms = current.retryDelayMilliseconds
        config.max_retry_delay_ms = current.maxRetryDelayMilliseconds
        config.reserved_urgent_slots = Int32(clamping: current.reservedUrgentSlots)
        config.execution_order = Int32(current.order == .fifo ? SDD_ORDER_FIFO : SDD_ORDER_LIFO)
        config.max_pixels = Int64(current.decodeLimits.maxPixels)
        if config.decode_time_ms == 0 { config.decode_time_ms = current.decodeLimits.milliseconds }
        if config.decode_time_ms_per_mib == 0 {
            config.decode_time_ms_per_mib = current.decodeLimits.millisecondsPerMiB
        }
        if config.max_decode_bytes == 0 { config.max_decode_bytes = Int64(current.decodeLimits.maxBytes) }
        if config.max_decode_ratio == 0 {
            config.max_decode_ratio = Int64(current.decodeLimits.maxRatio)
        }
        config.max_scans = Int32(clamping: current.decodeLimits.maxScans)
        config.min_preview_scans = Int32(clamping: current.minPreviewScans)
        if config.min_preview_interval_ms == 0 { config.min_preview_interval_ms = current.minPreviewMilliseconds }
        config.decode_threads = Int32(clamping: current.decodeThreads)
        config.download_timeout_ms = defaults.clocks.stall
        config.connect_timeout_ms = defaults.clocks.connect
        config.low_speed_limit = defaults.clocks.leastBytesPerSecond
        if config.low_speed_time_ms == 0 { config.low_speed_time_ms = defaults.clocks.slowness }
        config.max_body_bytes = current.transport.maxBodyBytes
        config.max_header_bytes = current.transport.maxHeaderBytes
        config.max_header_count = Int32(clamping: current.transport.maxHeaderCount)
        config.max_redirects = current.transport.maxRedirects
        config.receive_buffer_bytes = current.transport.receiveBufferBytes
        config.tcp_keepalive_s = current.transport.keepAliveSeconds
        config.dns_cache_ms = current.transport.dnsCacheMilliseconds
        if config.min_tls_version == 0 { config.min_tls_version = Int32(SDD_TLS_1_2) }
        if config.accepted_status_codes == nil { config.accepted_status_codes = staticText("200-299") }
        if config.accepted_content_types == nil { config.accepted_content_types = staticText(any) }
        return config
    }
}
