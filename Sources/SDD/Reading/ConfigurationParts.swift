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
        callbacks = try group(config.callbacks, "sdd_downloader_config.callbacks", sdd_callback_options())
        network = try group(config.network, "sdd_downloader_config.network", sdd_network_options())
        limits = try group(config.limits, "sdd_downloader_config.limits", sdd_limits())
        retry = try group(config.retry, "sdd_downloader_config.retry", sdd_retry_options())
    }
}

private func group<Group: SizedStruct>(
    _ given: UnsafePointer<Group>?, _ place: Place, _ zeros: Group
) throws(Refusal) -> Group {
    var group = zeros
    if let given { try read(given, place, into: &group) }
    return group
}
