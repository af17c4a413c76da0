internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// What a caller's sdd_batch_config means.

/// A batch as its config wants it, with its first items under way.
func makeBatch(_ config: sdd_batch_config) throws(Refusal) -> Batch {
    let loader = config.loader == nil ? nil : try Handle.loader(config.loader)
    guard config.loader == nil || config.downloader == nil else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    let client = if let loader { loader.client } else { try Handle.client(config.downloader) }
    guard config.reserved == 0, config.reserved2 == 0 else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    try RequestOptions.refuse(config.options, for: loader == nil ? .batch : .loadedBatch)
    let rules = try rules(config, standard: client.currentDefaults.form)
    let input = try input(config, client.currentDefaults)
    if rules.slotsAreIndexes, let tensor = rules.tensor, let count = input.count, count > tensor.slotCount {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    let attempts = try number(config.max_attempts, default: 0, most: 1000)
    let source: any BatchSource =
        if let loader {
            LoadedBatchSource(loader, options: config.options, maxAttempts: attempts)
        } else {
            DownloadedBatchSource(client, options: config.options, maxAttempts: attempts)
        }
    do throws(SystemError) {
        return try Batch.make(input, source: source, rules: rules)
    } catch {
        throw Refusal(SDD_ERROR_NO_RESOURCES)
    }
}

private func rules(_ config: sdd_batch_config, standard: PixelForm) throws(Refusal) -> Batch.Rules {
    var rules = Batch.Rules()
    rules.lookAhead = Int(try number(config.look_ahead, default: 64, most: 65_536))
    rules.isOrdered = try choice(config.order, [SDD_BATCH_AS_COMPLETED: false, SDD_BATCH_ORDERED: true])
    rules.limit = try number(config.deadline_ms, default: 0, most: longestLimit) * 1000
    rules.wantsResponses = try flag(config.responses)
    guard let source = config.tensor else {
        rules.form = try pixelForm(config.decode, options: config.options, standard: standard)
        guard rules.form?.isCallers != true else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        return rules
    }
    var given = sdd_tensor()
    try read(source, into: &given)
    guard given.reserved == 0 else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    guard config.decode == nil, !has(SDD_OPTION_BYTES_ONLY, in: config.options) else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    rules.tensor = try tensor(given)
    rules.slotsAreIndexes = try choice(
        given.slots, [SDD_TENSOR_SLOT_OF_INDEX: true, SDD_TENSOR_NEXT_SLOT: false])
    return rules
}

private func tensor(_ given: sdd_tensor) throws(Refusal) -> Tensor {
    let format = try choice(
        given.pixel_format,
        [
            0: PixelFormat.rgb8, SDD_PIXEL_FORMAT_RGB8: .rgb8, SDD_PIXEL_FORMAT_RGBA8: .rgba8,
            SDD_PIXEL_FORMAT_GREY8: .grey8,
        ])
    let isPlanar = try choice(given.layout, [SDD_TENSOR_HWC: false, SDD_TENSOR_CHW: true])
    let fit = try choice(
        given.fit,
        [SDD_TENSOR_FILL: SizeRule.Fit.fill, SDD_TENSOR_STRETCH: .stretch, SDD_TENSOR_INSIDE: .inside])
    guard given.width > 0, given.height > 0, given.background <= 0xff_ffff, !isPlanar || format == .rgb8,
        let pixels = given.pixels,
        let made = Tensor(
            base: pixels, slotCount: given.slot_count, slotStride: given.slot_stride,
            format: isPlanar ? .rgb8Planar : format,
            size: SizeRule(width: Int(given.width), height: Int(given.height), fit: fit, allowsEnlarging: true),
            background: given.background)
    else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return made
}

private func input(_ config: sdd_batch_config, _ defaults: RequestDefaults) throws(Refusal) -> any BatchInput {
    if let next = config.next {
        guard config.urls == nil, config.ids == nil, config.count == 0 else {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
        }
        return FunctionInput(next, HostPointer(config.user_data), defaults)
    }
    // A size_t beyond Int's range arrives as a negative number; so many pointers there cannot be, either.
    guard config.count >= 0, config.count <= Int.max / 16, config.urls != nil || config.count == 0 else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    return ListInput(
        UnsafeBufferPointer(start: config.urls, count: config.urls == nil ? 0 : config.count), ids: config.ids,
        defaults)
}

extension RequestDefaults {
    /// A URL of a caller's with its NUL.
    fileprivate func copy(of url: UnsafePointer<CChar>?) -> [UInt8]? { urlBytes(url).map { Array($0) + [0] } }
}

/// The items of an array, copied into one piece of memory. Thread: one at a time, that which begins items.
private final class ListInput: BatchInput, @unchecked Sendable {
    // Safety: `last` is touched only by `next`, which a batch calls on one thread at a time.
    private var bytes: [UInt8] = []
    /// Where each begins, and the last one ends; the same place twice for NULL.
    private var starts: [Int] = [0]
    private var ids: [UInt64] = []
    private var last = 0

    init(
        _ urls: UnsafeBufferPointer<UnsafePointer<CChar>?>, ids: UnsafePointer<UInt64>?, _ defaults: RequestDefaults
    ) {
        starts.reserveCapacity(urls.count + 1)
        for url in urls {
            if let url = defaults.copy(of: url) { bytes += url }
            starts.append(bytes.count)
        }
        // Safety: the header of the library says that there are as many.
        if let ids { self.ids = Array(UnsafeBufferPointer(start: ids, count: urls.count)) }
    }

    var count: Int? { starts.count - 1 }

    func next() -> BatchEntry? {
        guard last < starts.count - 1 else { return nil }
        defer { last += 1 }
        let url = bytes[starts[last]..<starts[last + 1]]
        return BatchEntry(url: url.isEmpty ? nil : Array(url), id: ids.isEmpty ? UInt64(last) : ids[last])
    }
}

/// Items that a function of the host's gives. Thread: the host's, one at a time.
private final class FunctionInput: BatchInput {
    private let function: sdd_batch_next_fn
    private let data: HostPointer
    private let defaults: RequestDefaults

    init(_ function: sdd_batch_next_fn, _ data: HostPointer, _ defaults: RequestDefaults) {
        self.function = function
        self.defaults = defaults
        self.data = data
    }

    var count: Int? { nil }

    func next() -> BatchEntry? {
        var item = sdd_batch_source()
        item.struct_size = MemoryLayout<sdd_batch_source>.size
        guard function(&item, data.pointer) == 1 else { return nil }
        return BatchEntry(url: defaults.copy(of: item.url), id: item.id)
    }
}
