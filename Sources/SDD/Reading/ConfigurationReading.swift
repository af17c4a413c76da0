internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

// Reading an sdd_downloader_config.

/// A configuration that was read, split into the parts that other layers need.
struct ReadConfiguration {
    var downloader: DownloaderConfiguration
    var defaults: RequestDefaults
    var given: AppConfiguration
    /// The data of the application's functions. Once the downloader is made, the library owns it.
    var appData: [AppData]
}

/// - Parameter cache: returns the cache behind a handle; that of NULL is the shared one.
func readConfiguration(
    _ config: sdd_downloader_config,
    cache: @escaping @Sendable (_ handle: OpaquePointer?, _ place: Place) throws(Refusal) -> ImageCache
) throws(Refusal) -> ReadConfiguration {
    let parts = try ConfigurationParts(config)
    var downloader = DownloaderConfiguration()
    try readRules(config, &downloader)
    try readCallbacks(parts.callbacks, &downloader)
    try readDecodeLimits(parts.limits, &downloader)
    try readRetries(parts.retry, &downloader)
    try readLimits(parts.limits, parts.network, &downloader.transport)
    try readTrust(parts.network, &downloader.transport)
    try readWays(parts.network, &downloader.transport)
    let isWithout = try flag(config.no_installed_coders, "sdd_downloader_config.no_installed_coders")
    downloader.installedCoders = isWithout ? nil : .process
    downloader.decoding = try decoding(config.decode_mode, downloader.decodeLimits)
    let threads = AppData(parts.callbacks.user_data, free: parts.callbacks.user_data_free)
    downloader.delivery = try delivery(config.delivery, parts.callbacks, threads)
    let filter = AppData(parts.network.user_data, free: parts.network.user_data_free)
    readFilter(parts.network, filter, &downloader.transport)
    var defaults = RequestDefaults(
        allowsFiles: downloader.transport.allowsFiles, maxBodyBytes: downloader.transport.maxBodyBytes,
        sharedCache: { try? cache(nil, "cache") })
    try readDefaults(config, parts.limits, &defaults)
    if config.cache != nil { defaults.cache = try cache(config.cache, "sdd_downloader_config.cache") }
    let modifiers = try AppModifiers.make(config.modifiers, "sdd_downloader_config.modifiers")
    defaults.modifiers = modifiers
    defaults.proxyUserinfo = downloader.transport.proxy.userinfo
    defaults.refusesDataURLs = try flag(parts.network.no_data_urls, "sdd_network_options.no_data_urls")
    return ReadConfiguration(
        downloader: downloader, defaults: defaults, given: AppConfiguration(parts, keeping: [threads, filter]),
        appData: [threads, filter] + (modifiers.map { [$0.data] } ?? []))
}

private func decoding(
    _ mode: Int32, _ limits: DecodeLimits
) throws(Refusal) -> DownloaderConfiguration.DecodingPlace {
    switch Int(mode) {
    case SDD_DECODE_IN_PROCESS: return .programsIsolated
    case SDD_DECODE_ISOLATED:
        do throws(CoderError) {
            return .isolated(try DecoderProgram.find(limits))
        } catch {
            throw Refusal(SDD_ERROR_UNSUPPORTED, "sdd_downloader_config.decode_mode", error.reason)
        }
    case SDD_DECODE_ALL_IN_PROCESS: return .inThisProcess
    default:
        throw .number("sdd_downloader_config.decode_mode", mode, allowed: "one of SDD_DECODE_")
    }
}

// MARK: - Scheduling

let standardMaxConcurrent: Int32 = 6

private func readRules(_ config: sdd_downloader_config, _ made: inout DownloaderConfiguration) throws(Refusal) {
    made.maxConcurrentDownloads = Int(
        try number(
            config.max_concurrent_downloads, "sdd_downloader_config.max_concurrent_downloads",
            default: standardMaxConcurrent, most: 100_000))
    made.maxConcurrentPerHost = Int(
        try number(
            config.max_concurrent_per_host, "sdd_downloader_config.max_concurrent_per_host",
            default: standardMaxConcurrent, most: 100_000))
    made.reservedUrgentSlots = Int(
        try number(
            config.reserved_urgent_slots, "sdd_downloader_config.reserved_urgent_slots", default: 0, most: 100_000))
    guard made.reservedUrgentSlots < made.maxConcurrentDownloads else {
        throw .number(
            "sdd_downloader_config.reserved_urgent_slots", config.reserved_urgent_slots,
            allowed: "less than max_concurrent_downloads, \(made.maxConcurrentDownloads)")
    }
    made.order = try order(config.execution_order, "sdd_downloader_config.execution_order")
    made.ageingMilliseconds = try number(
        config.ageing_ms, "sdd_downloader_config.ageing_ms", default: 0, most: longestLimit)
    made.minHostIntervalMilliseconds = try number(
        config.min_host_interval_ms, "sdd_downloader_config.min_host_interval_ms", default: 0, most: longestLimit)
    // A thread sleeps while another process decodes for it: one more keeps the processors busy meanwhile.
    let more: Int32 = Int(config.decode_mode) == SDD_DECODE_ISOLATED ? 1 : 0
    made.decodeThreads = Int(
        try number(
            config.decode_threads, "sdd_downloader_config.decode_threads",
            default: Int32(min(availableProcessors(), 8)) + more, most: 256))
}

private func readCallbacks(_ options: sdd_callback_options, _ made: inout DownloaderConfiguration) throws(Refusal) {
    // NaN fails every comparison.
    guard options.min_progress_fraction >= 0, options.min_progress_fraction <= 1 else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_callback_options.min_progress_fraction",
            "\(options.min_progress_fraction) is not 0 to 1")
    }
    made.minProgressInterval = options.min_progress_fraction
    made.minProgressMilliseconds = try number(
        options.min_progress_interval_ms, "sdd_callback_options.min_progress_interval_ms", default: 0,
        most: longestLimit)
    made.minPreviewMilliseconds = try orNone(
        options.min_preview_interval_ms, "sdd_callback_options.min_preview_interval_ms", default: 100)
    made.minPreviewBytes = Int(
        try number(options.min_preview_bytes, "sdd_callback_options.min_preview_bytes", default: 0, most: 1 << 40))
    made.minPreviewScans = Int(
        try number(options.min_preview_scans, "sdd_callback_options.min_preview_scans", default: 1, most: 1 << 31))
}

private func readDecodeLimits(_ limits: sdd_limits, _ made: inout DownloaderConfiguration) throws(Refusal) {
    made.decodeLimits.milliseconds = try orNone(limits.decode_time_ms, "sdd_limits.decode_time_ms", default: 5000)
    made.decodeLimits.millisecondsPerMiB = try orNone(
        limits.decode_time_ms_per_mib, "sdd_limits.decode_time_ms_per_mib", default: 1000)
    made.decodeLimits.maxBytes = Int(
        try orNone(limits.max_decode_bytes, "sdd_limits.max_decode_bytes", default: 1 << 30))
    made.decodeLimits.maxRatio = Int(
        try orNone(
            limits.max_decode_ratio, "sdd_limits.max_decode_ratio", default: 512, most: 1 << 30))
    made.decodeLimits.maxScans = UInt32(
        try number(limits.max_scans, "sdd_limits.max_scans", default: 500, most: Int32.max))
    made.decodeLimits.maxPixels = Int(
        try number(limits.max_pixels, "sdd_limits.max_pixels", default: 128 << 20, most: 1 << 40))
}

private func readRetries(_ retry: sdd_retry_options, _ made: inout DownloaderConfiguration) throws(Refusal) {
    made.maxAttempts = try number(
        retry.max_attempts, "sdd_retry_options.max_attempts", default: made.maxAttempts, most: mostAttempts)
    made.retryBudget = try unlessNone(
        retry.budget, "sdd_retry_options.budget", default: made.retryBudget, most: 1_000_000)
    made.retryDelayMilliseconds = try number(
        retry.delay_ms, "sdd_retry_options.delay_ms", default: made.retryDelayMilliseconds, most: longestLimit)
    made.maxRetryDelayMilliseconds = try number(
        retry.max_delay_ms, "sdd_retry_options.max_delay_ms", default: made.maxRetryDelayMilliseconds,
        most: longestLimit)
}

/// Reads a limit: -1 means none and is returned as 0; 0 means the default.
private func orNone(
    _ given: Int64, _ place: Place, default standard: Int64, most: Int64 = longestLimit
) throws(Refusal) -> Int64 {
    max(0, try unlessNone(given, place, default: standard, most: most))
}

/// Reads a limit: -1 means none and is returned as -1; 0 means the default.
private func unlessNone<Number: FixedWidthInteger>(
    _ given: Number, _ place: Place, default standard: Number, most: Number
) throws(Refusal) -> Number {
    guard given >= -1, given <= most else { throw .number(place, given, allowed: "-1 to \(most)") }
    return given == 0 ? standard : given
}

func order(_ given: Int32, _ place: Place) throws(Refusal) -> WaitingOrder {
    try choice(given, place, "SDD_ORDER_", [SDD_ORDER_FIFO: .fifo, SDD_ORDER_LIFO: .lifo])
}

private func delivery(
    _ mode: Int32, _ options: sdd_callback_options, _ data: AppData
) throws(Refusal) -> DownloaderConfiguration.DeliveryMode {
    switch Int(mode) {
    case SDD_DELIVERY_APPLICATION: return .application
    case SDD_DELIVERY_THREAD:
        let (start, stop) = (options.on_thread_start, options.on_thread_stop)
        return .thread(start: { start?(data.pointer) }, stop: { stop?(data.pointer) })
    default: throw .number("sdd_downloader_config.delivery", mode, allowed: "one of SDD_DELIVERY_")
    }
}

// MARK: - Request defaults

let standardDownloadTimeout: Int64 = 15_000
private let standardLowSpeedLimit: Int64 = 100
private let standardLowSpeedTime: Int64 = 60_000

private func readDefaults(
    _ config: sdd_downloader_config, _ limits: sdd_limits, _ made: inout RequestDefaults
) throws(Refusal) {
    var clocks = TransferClocks()
    clocks.stall = try number(
        limits.download_timeout_ms, "sdd_limits.download_timeout_ms", default: standardDownloadTimeout,
        most: longestLimit)
    clocks.connect = try number(
        limits.connect_timeout_ms, "sdd_limits.connect_timeout_ms", default: clocks.stall, most: longestLimit)
    clocks.firstByte = try number(
        limits.first_byte_timeout_ms, "sdd_limits.first_byte_timeout_ms", default: 0, most: longestLimit)
    clocks.slowness = try orNone(
        limits.low_speed_time_ms, "sdd_limits.low_speed_time_ms", default: standardLowSpeedTime)
    clocks.leastBytesPerSecond = try number(
        limits.low_speed_limit, "sdd_limits.low_speed_limit", default: standardLowSpeedLimit, most: longestLimit)
    made.connectFollowsStall = limits.connect_timeout_ms == 0
    made.clocks = clocks
    made.queueLimit = try number(limits.queue_timeout_ms, "sdd_limits.queue_timeout_ms", default: 0, most: longestLimit)
    made.totalLimit = try number(limits.total_timeout_ms, "sdd_limits.total_timeout_ms", default: 0, most: longestLimit)
    made.acceptance = try readAcceptance(
        statuses: config.accepted_status_codes, "sdd_downloader_config.accepted_status_codes",
        types: config.accepted_content_types, "sdd_downloader_config.accepted_content_types", standard: .standard)
    made.credential = try credential(config.credential, "sdd_downloader_config.credential").credential
    made.usesHTTPCache = try flag(config.http_cache, "sdd_downloader_config.http_cache")
    made.resumes = try flag(config.resume, "sdd_downloader_config.resume")
}

// MARK: - The transport

private func readLimits(
    _ limits: sdd_limits, _ network: sdd_network_options, _ made: inout TransportConfiguration
) throws(Refusal) {
    made.maxBodyBytes = try number(
        limits.max_body_bytes, "sdd_limits.max_body_bytes", default: 64 << 20, most: largestBody)
    made.maxHeaderBytes = try number(
        limits.max_header_bytes, "sdd_limits.max_header_bytes", default: 256 << 10, most: 1 << 30)
    made.maxHeaderCount = Int(
        try number(limits.max_header_count, "sdd_limits.max_header_count", default: 1000, most: 1_000_000))
    made.maxRedirects = try number(
        network.max_redirects, "sdd_network_options.max_redirects", default: 10, most: mostRedirects)
    made.maxConnections = try number(
        network.max_connections, "sdd_network_options.max_connections", default: 0, most: 100_000)
    made.maxConnectionsPerHost = try number(
        network.max_connections_per_host, "sdd_network_options.max_connections_per_host", default: 0, most: 100_000)
    made.maxIdleConnections = try number(
        network.max_idle_connections, "sdd_network_options.max_idle_connections", default: 0, most: 100_000)
    made.receiveBufferBytes = try number(
        network.receive_buffer_bytes, "sdd_network_options.receive_buffer_bytes", default: 64 << 10, most: 512 << 10)
    made.networkThreads = try number(
        network.network_threads, "sdd_network_options.network_threads", default: 1, most: NetworkThreads.most)
    guard made.receiveBufferBytes >= 1024 else {
        throw .number(
            "sdd_network_options.receive_buffer_bytes", network.receive_buffer_bytes, allowed: "0 or 1024 to 524288")
    }
}

private func readTrust(_ network: sdd_network_options, _ made: inout TransportConfiguration) throws(Refusal) {
    made.allowsFiles = try flag(network.allow_file_urls, "sdd_network_options.allow_file_urls")
    made.allowsDowngrade = try flag(network.allow_downgrade, "sdd_network_options.allow_downgrade")
    made.caFile = try path(network.ca_file, "sdd_network_options.ca_file")
    made.caPath = try path(network.ca_path, "sdd_network_options.ca_path")
    made.minTLSVersion = try choice(
        network.min_tls_version, "sdd_network_options.min_tls_version", "SDD_TLS_",
        [
            SDD_TLS_DEFAULT: .tls1_2, SDD_TLS_1_0: .tls1_0, SDD_TLS_1_1: .tls1_1, SDD_TLS_1_2: .tls1_2,
            SDD_TLS_1_3: .tls1_3,
        ])
    made.addressPolicy = try choice(
        network.address_policy, "sdd_network_options.address_policy", "SDD_ADDRESS_",
        [SDD_ADDRESS_ANY: .any, SDD_ADDRESS_PUBLIC_ONLY: .publicOnly])
    made.addressExceptions = try list(
        network.address_exceptions, "sdd_network_options.address_exceptions",
        count: network.address_exception_count, "sdd_network_options.address_exception_count")
}

private func readFilter(_ network: sdd_network_options, _ data: AppData, _ made: inout TransportConfiguration) {
    guard let filter = network.address_filter else { return }
    made.addressFilter = { address, port in address.withCString { filter($0, port, data.pointer) } != 0 }
}

private func readWays(_ network: sdd_network_options, _ made: inout TransportConfiguration) throws(Refusal) {
    made.proxy = try proxy(network)
    made.networkInterface = try text(network.network_interface, "sdd_network_options.network_interface")
    made.unixSocketPath = try path(network.unix_socket_path, "sdd_network_options.unix_socket_path")
    try refuseWaysAround(network)
    made.ipVersion = try choice(
        network.ip_version, "sdd_network_options.ip_version", "SDD_IP_",
        [SDD_IP_ANY: .any, SDD_IP_V4: .v4, SDD_IP_V6: .v6])
    made.httpVersion = try choice(
        network.http_version, "sdd_network_options.http_version", "SDD_HTTP_",
        [
            SDD_HTTP_DEFAULT: .standard, SDD_HTTP_1_0: .http1_0, SDD_HTTP_1_1: .http1_1, SDD_HTTP_2: .http2,
            SDD_HTTP_2_PRIOR_KNOWLEDGE: .http2PriorKnowledge, SDD_HTTP_3: .http3,
        ])
    let keepAlive = try unlessNone(
        network.tcp_keepalive_ms, "sdd_network_options.tcp_keepalive_ms", default: 60_000, most: 32_767_000)
    made.keepAliveSeconds = keepAlive < 0 ? -1 : Int32((keepAlive + 999) / 1000)
    made.dnsCacheMilliseconds = try unlessNone(
        network.dns_cache_ms, "sdd_network_options.dns_cache_ms", default: 60_000, most: 1 << 40)
    made.dnsServers = try text(network.dns_servers, "sdd_network_options.dns_servers")
    made.resolve = try list(
        network.resolve, "sdd_network_options.resolve",
        count: network.resolve_count, "sdd_network_options.resolve_count")
    made.cookieFile = try path(network.cookie_file, "sdd_network_options.cookie_file")
}

/// Refuses a proxy or a Unix socket that would bypass the restrictions on addresses: the library does not see where a
/// proxy connects.
private func refuseWaysAround(_ network: sdd_network_options) throws(Refusal) {
    let isPublicOnly = network.address_policy == Int32(SDD_ADDRESS_PUBLIC_ONLY)
    guard network.proxy == nil || !(isPublicOnly || network.address_filter != nil) else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_network_options.proxy",
            "it must be NULL with \(isPublicOnly ? "SDD_ADDRESS_PUBLIC_ONLY" : "an address_filter"): "
                + "the address a proxy connects to is not checked")
    }
    guard network.unix_socket_path == nil || !isPublicOnly else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_network_options.unix_socket_path",
            "it must be NULL with SDD_ADDRESS_PUBLIC_ONLY")
    }
}

private func proxy(_ network: sdd_network_options) throws(Refusal) -> TransportConfiguration.Proxy {
    let isNone = try choice(
        network.proxy_mode, "sdd_network_options.proxy_mode", "SDD_PROXY_",
        [SDD_PROXY_ENVIRONMENT: false, SDD_PROXY_NONE: true])
    let except = try text(network.no_proxy, "sdd_network_options.no_proxy")
    guard let url = try text(network.proxy, "sdd_network_options.proxy", isSecret: true) else {
        guard except == nil else {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "sdd_network_options.no_proxy", "it must be NULL without a proxy")
        }
        return isNone ? .none : .environment
    }
    guard !isNone else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_network_options.proxy", "it must be NULL with SDD_PROXY_NONE")
    }
    return .url(url, except: except)
}
