internal import CSDD
internal import SDDBase
internal import SDDEngine

/// Creates a batch from its config and starts its first items.
func makeBatch(_ config: sdd_batch_config) throws(Refusal) -> Batch {
    let loader = config.loader == nil ? nil : try Loaders.loader(config.loader, "sdd_batch_config.loader")
    guard config.loader == nil || config.downloader == nil else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_batch_config.downloader",
            "it must be NULL where there is a loader, which has its own")
    }
    let client =
        if let loader {
            loader.downloadClient
        } else {
            try Downloaders.client(config.downloader, "sdd_batch_config.downloader")
        }
    let reading = try BatchReading(config, for: loader == nil ? .batch : .loadedBatch, client.currentDefaults)
    let source: any BatchSource =
        if let loader { LoadedBatchSource(loader, reading.spec) } else { DownloadedBatchSource(client, reading.spec) }
    do throws(SystemError) {
        let batch = try Batch.make(reading.input, source: source, rules: reading.rules)
        reading.appData.own()
        return batch
    } catch {
        throw Refusal(SDD_ERROR_NO_RESOURCES, "the system gave no descriptor for sdd_batch_event_fd()")
    }
}
