internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// The default list of accepted content types. Declared with its type, since a literal of one character may otherwise
/// lack the pointer that `staticText` needs.
private let any: StaticString = "*"

/// A configuration as the application gave it, with copies of its strings, for `sdd_downloader_get_config`. Callable
/// from any thread.
final class AppConfiguration: @unchecked Sendable {
    // Safety: immutable except for `lent`, which has a lock. The parts point to `texts`, which are kept here, and to
    // data of the application that is only passed back.
    private let parts: ConfigurationParts
    private let texts: [CText]
    private let data: [AppData]
    /// Groups lent to callers, valid until the downloader is destroyed. New ones are added only after the configuration
    /// has changed.
    private let lent = Monitor<[LentGroups]>([])

    /// - Parameter data: kept as long as the configuration, since its functions may be called until the end.
    init(_ given: ConfigurationParts, keeping data: [AppData]) {
        self.data = data
        var parts = given
        var texts: [CText] = []
        func keep(_ field: WritableKeyPath<ConfigurationParts, UnsafePointer<CChar>?>) {
            guard let given = parts[keyPath: field].map({ String(cString: $0) }) else { return }
            let isProxy = field == \.network.proxy
            parts[keyPath: field] = texts.keep(
                isProxy ? TransportConfiguration.Proxy.withoutUserinfo(given) : given)
        }
        for field in Self.strings { keep(field) }
        // The credential, the proxy's password, the modifiers and the lists are not given back.
        parts.config.credential = nil
        parts.config.modifiers = nil
        parts.network.resolve = nil
        parts.network.resolve_count = 0
        parts.network.address_exceptions = nil
        parts.network.address_exception_count = 0
        self.parts = parts
        self.texts = texts
    }

    private static var strings: [WritableKeyPath<ConfigurationParts, UnsafePointer<CChar>?>] {
        [
            \.config.accepted_status_codes, \.config.accepted_content_types, \.network.ca_file, \.network.ca_path,
            \.network.proxy, \.network.no_proxy, \.network.network_interface, \.network.unix_socket_path,
            \.network.dns_servers, \.network.cookie_file,
        ]
    }

    /// Returns the configuration including later changes, with defaults in place of zeros.
    func filled(with current: DownloaderConfiguration, _ defaults: RequestDefaults) -> sdd_downloader_config {
        var filled = parts
        filled.fillRules(with: current)
        filled.fillLimits(with: current, defaults)
        filled.fillNetwork(with: current.transport)
        let groups = lent.withLock { lent in
            if let same = lent.first(where: { $0.holds(filled) }) { return same }
            let groups = LentGroups(filled)
            lent.append(groups)
            return groups
        }
        filled.config.callbacks = groups.callbacks.pointer
        filled.config.network = groups.network.pointer
        filled.config.limits = groups.limits.pointer
        filled.config.retry = groups.retry.pointer
        return filled.config
    }
}

/// The groups of a configuration, in memory that C code reads.
private final class LentGroups {
    let callbacks: Lent<sdd_callback_options>
    let network: Lent<sdd_network_options>
    let limits: Lent<sdd_limits>
    let retry: Lent<sdd_retry_options>

    init(_ parts: ConfigurationParts) {
        var parts = parts
        parts.callbacks.struct_size = MemoryLayout<sdd_callback_options>.size
        parts.network.struct_size = MemoryLayout<sdd_network_options>.size
        parts.limits.struct_size = MemoryLayout<sdd_limits>.size
        parts.retry.struct_size = MemoryLayout<sdd_retry_options>.size
        callbacks = Lent(parts.callbacks)
        network = Lent(parts.network)
        limits = Lent(parts.limits)
        retry = Lent(parts.retry)
    }

    /// Whether these groups equal those of `parts`. Only two timeouts can change during a downloader's life, through
    /// `sdd_downloader_set_download_timeout`.
    func holds(_ parts: ConfigurationParts) -> Bool {
        limits.pointer.pointee.download_timeout_ms == parts.limits.download_timeout_ms
            && limits.pointer.pointee.connect_timeout_ms == parts.limits.connect_timeout_ms
    }
}

// MARK: - Defaults in place of zeros

extension ConfigurationParts {
    fileprivate mutating func fillRules(with current: DownloaderConfiguration) {
        config.max_concurrent_downloads = Int32(clamping: current.maxConcurrentDownloads)
        config.max_concurrent_per_host = Int32(clamping: current.maxConcurrentPerHost)
        config.min_host_interval_ms = current.minHostIntervalMilliseconds
        config.reserved_urgent_slots = Int32(clamping: current.reservedUrgentSlots)
        config.execution_order = Int32(current.order == .fifo ? SDD_ORDER_FIFO : SDD_ORDER_LIFO)
        config.decode_threads = Int32(clamping: current.decodeThreads)
        if config.accepted_status_codes == nil { config.accepted_status_codes = staticText("200-299") }
        if config.accepted_content_types == nil { config.accepted_content_types = staticText(any) }
        callbacks.min_preview_scans = Int64(current.minPreviewScans)
        if callbacks.min_preview_interval_ms == 0 {
            callbacks.min_preview_interval_ms = current.minPreviewMilliseconds
        }
        retry.max_attempts = current.maxAttempts
        retry.budget = current.retryBudget
        retry.delay_ms = current.retryDelayMilliseconds
        retry.max_delay_ms = current.maxRetryDelayMilliseconds
    }

    fileprivate mutating func fillLimits(with current: DownloaderConfiguration, _ defaults: RequestDefaults) {
        let decode = current.decodeLimits
        limits.max_pixels = Int64(decode.maxPixels)
        if limits.decode_time_ms == 0 { limits.decode_time_ms = decode.milliseconds }
        if limits.decode_time_ms_per_mib == 0 { limits.decode_time_ms_per_mib = decode.millisecondsPerMiB }
        if limits.max_decode_bytes == 0 { limits.max_decode_bytes = Int64(decode.maxBytes) }
        if limits.max_decode_ratio == 0 { limits.max_decode_ratio = Int64(decode.maxRatio) }
        limits.max_scans = Int32(clamping: decode.maxScans)
        limits.download_timeout_ms = defaults.clocks.stall
        limits.connect_timeout_ms = defaults.clocks.connect
        limits.low_speed_limit = defaults.clocks.leastBytesPerSecond
        if limits.low_speed_time_ms == 0 { limits.low_speed_time_ms = defaults.clocks.slowness }
        limits.max_body_bytes = current.transport.maxBodyBytes
        limits.max_header_bytes = current.transport.maxHeaderBytes
        limits.max_header_count = Int32(clamping: current.transport.maxHeaderCount)
    }

    fileprivate mutating func fillNetwork(with current: TransportConfiguration) {
        network.max_redirects = current.maxRedirects
        network.receive_buffer_bytes = current.receiveBufferBytes
        network.network_threads = current.networkThreads
        network.tcp_keepalive_ms = current.keepAliveSeconds < 0 ? -1 : Int64(current.keepAliveSeconds) * 1000
        network.dns_cache_ms = current.dnsCacheMilliseconds
        if network.min_tls_version == 0 { network.min_tls_version = Int32(SDD_TLS_1_2) }
    }
}
