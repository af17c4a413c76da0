internal import CSDD

/// Copies of an sdd_downloader_config and its groups; a missing group is all zeros. Their pointers still refer to the
/// application's memory.
struct ConfigurationParts {
    var config: sdd_downloader_config
    var callbacks: sdd_callback_options
    var network: sdd_network_options
    var limits: sdd_limits
    var retry: sdd_retry_options

    init(_ config: sdd_downloader_config) throws(Refusal) {
        self.config = config
        callbacks = try readOrZeros(config.callbacks, "sdd_downloader_config.callbacks")
        network = try readOrZeros(config.network, "sdd_downloader_config.network")
        limits = try readOrZeros(config.limits, "sdd_downloader_config.limits")
        retry = try readOrZeros(config.retry, "sdd_downloader_config.retry")
    }
}
