internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDCoders
internal import SDDEngine

// Reading an sdd_batch_config.

/// A batch's config that was read, without the handles in it.
struct BatchReading {
    let spec: RequestSpec
    let rules: Batch.Rules
    let input: any BatchInput
    /// The data of the application's functions. Once the batch is made, the library owns it.
    let appData: [AppData]

    /// - Parameter defaults: of the downloader that fetches the items.
    init(_ config: sdd_batch_config, for use: RequestOptions.Use, _ defaults: RequestDefaults) throws(Refusal) {
        let options = try RequestOptions.read(config.options, "sdd_batch_config.options", for: use)
        rules = try SDD.rules(config, options, standard: defaults.form)
        input = try SDD.input(config, defaults)
        if rules.slotsAreIndexes, let tensor = rules.tensor, let count = input.count, count > tensor.slotCount {
            throw wrong(
                "sdd_tensor.slot_count",
                "\(tensor.slotCount) is too few for \(count) items: with SDD_TENSOR_SLOT_OF_INDEX each has its own")
        }
        let transfer = try GivenTransfer.given(config.transfer, "sdd_batch_config.transfer")
        appData = transfer?.appData ?? []
        var spec = RequestSpec(options: options)
        spec.priority = try priority(config.priority, "sdd_batch_config.priority")
        spec.transfer = try transfer?.checkedSpec()
        self.spec = spec
    }
}

private func wrong(_ place: Place, _ reason: String) -> Refusal { Refusal(SDD_ERROR_INVALID_ARGUMENT, place, reason) }

private func rules(
    _ config: sdd_batch_config, _ options: RequestOptions, standard: DecodeOptions
) throws(Refusal) -> Batch.Rules {
    var rules = Batch.Rules()
    rules.lookAhead = Int(try number(config.look_ahead, "sdd_batch_config.look_ahead", default: 64, most: 65_536))
    rules.isOrdered = try choice(
        config.order, "sdd_batch_config.order", "SDD_BATCH_", [SDD_BATCH_AS_COMPLETED: false, SDD_BATCH_ORDERED: true])
    if config.deadline_ms != -1 {
        let limit = try number(config.deadline_ms, "sdd_batch_config.deadline_ms", default: 0, most: longestLimit)
        rules.limit = limit * 1000
    }
    rules.wantsResponses = try flag(config.responses, "sdd_batch_config.responses")
    guard let source = config.tensor else {
        rules.form = try pixelForm(
            config.decode, "sdd_batch_config.decode", options: options, standard: standard)
        guard rules.form?.isCallers != true else { throw ownMemory("of a batch") }
        return rules
    }
    let given = try read(source, "sdd_batch_config.tensor")
    guard config.decode == nil else {
        throw wrong("sdd_batch_config.decode", "it must be NULL where there is a tensor, which says all of it")
    }
    guard !options.contains(.bytesOnly) else {
        throw wrong("sdd_batch_config.options", "SDD_OPTION_BYTES_ONLY means nothing where pixels go to a tensor")
    }
    rules.tensor = try tensor(given)
    rules.slotsAreIndexes = try choice(
        given.slot_choice, "sdd_tensor.slot_choice", "SDD_TENSOR_",
        [SDD_TENSOR_SLOT_OF_INDEX: true, SDD_TENSOR_NEXT_SLOT: false])
    return rules
}

private func tensor(_ given: sdd_tensor) throws(Refusal) -> Tensor {
    let format = try choice(
        given.pixel_format, "sdd_tensor.pixel_format", "SDD_PIXEL_FORMAT_RGB8, _RGBA8, _GREY8",
        [
            0: PixelFormat.rgb8, SDD_PIXEL_FORMAT_RGB8: .rgb8, SDD_PIXEL_FORMAT_RGBA8: .rgba8,
            SDD_PIXEL_FORMAT_GREY8: .grey8,
        ])
    let isPlanar = try choice(
        given.layout, "sdd_tensor.layout", "SDD_TENSOR_", [SDD_TENSOR_HWC: false, SDD_TENSOR_CHW: true])
    let fit = try fit(given.fit, "sdd_tensor.fit", default: .fill)
    guard given.width > 0 else { throw .number("sdd_tensor.width", given.width, allowed: "at least 1") }
    guard given.height > 0 else { throw .number("sdd_tensor.height", given.height, allowed: "at least 1") }
    guard given.background <= 0xff_ffff else { throw badBackground("sdd_tensor.background", given.background) }
    guard !isPlanar || format == .rgb8 else {
        throw wrong("sdd_tensor.layout", "SDD_TENSOR_CHW is of SDD_PIXEL_FORMAT_RGB8 alone")
    }
    guard let pixels = given.pixels else { throw .null("sdd_tensor.pixels") }
    guard given.slot_count > 0 else {
        throw .number("sdd_tensor.slot_count", UInt(bitPattern: given.slot_count), allowed: "at least 1")
    }
    let made = Tensor(
        base: pixels, slotCount: given.slot_count, slotStride: given.slot_stride,
        format: isPlanar ? .rgb8Planar : format,
        size: SizeRule(width: Int(given.width), height: Int(given.height), fit: fit, allowsEnlarging: true),
        background: given.background, colour: try colour(given.colour, "sdd_tensor.colour"))
    guard let made else {
        throw wrong(
            "sdd_tensor.slot_stride",
            "\(UInt(bitPattern: given.slot_stride)) is less than a picture takes, or all slots are more than memory has"
        )
    }
    return made
}

private func input(_ config: sdd_batch_config, _ defaults: RequestDefaults) throws(Refusal) -> any BatchInput {
    if let next = config.next {
        guard config.urls == nil, config.ids == nil, config.count == 0 else {
            throw wrong("sdd_batch_config.next", "it must be NULL where there are urls, ids or a count")
        }
        return FunctionInput(next, AppPointer(config.user_data), defaults)
    }
    // A size_t beyond Int's range arrives as a negative number. No array can hold more than Int.max / 16 pointers.
    guard config.count >= 0, config.count <= Int.max / 16 else {
        throw .number("sdd_batch_config.count", UInt(bitPattern: config.count), allowed: "0 to \(Int.max / 16)")
    }
    guard config.urls != nil || config.count == 0 else {
        throw wrong("sdd_batch_config.urls", "NULL is allowed with a count of 0 alone, and it is \(config.count)")
    }
    return ListInput(
        UnsafeBufferPointer(start: config.urls, count: config.urls == nil ? 0 : config.count), ids: config.ids,
        defaults)
}

extension RequestDefaults {
    /// Copies a URL and its terminating NUL; `nil` for NULL.
    fileprivate func copy(of url: UnsafePointer<CChar>?) -> [UInt8]? {
        urlBytes(url, limit: self.maxBodyBytes).map { Array($0) + [0] }
    }
}

/// The items of an array, with the URLs copied into one buffer. Called by the thread that starts items, one at a time.
private final class ListInput: BatchInput, @unchecked Sendable {
    // Safety: `last` is touched only by `next`, which a batch calls on one thread at a time.
    private var bytes: [UInt8] = []
    /// Offsets at which each URL begins, and finally the end of the last one. A NULL URL has length 0.
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
        // Safety: the library's header requires as many ids as URLs.
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

/// Items supplied by a function of the application. Thread: the one inside sdd_batch_create() or sdd_batch_wait(), one
/// call at a time.
private final class FunctionInput: BatchInput {
    private let function: sdd_batch_next_fn
    private let data: AppPointer
    private let defaults: RequestDefaults

    init(_ function: sdd_batch_next_fn, _ data: AppPointer, _ defaults: RequestDefaults) {
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
