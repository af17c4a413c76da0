public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_get_gain_map_info") @implementation
public func sdd_image_get_gain_map_info(
    _ image: OpaquePointer?, _ info: UnsafeMutablePointer<sdd_gain_map_info>?
) -> sdd_status {
    status { () throws(Refusal) in
        try fill(info, "info", with: sdd_gain_map_info())
        guard let image = Handle.image(image) else { throw .null("image") }
        guard let map = try coded({ () throws(CoderError) in try image.gainMap() }) else { throw noGainMap }
        try fill(info, "info", with: sdd_gain_map_info(map))
    }
}

@_cdecl("sdd_image_gain_map") @implementation
public func sdd_image_gain_map(_ image: OpaquePointer?, _ map: UnsafeMutablePointer<OpaquePointer?>?) -> sdd_status {
    map?.pointee = nil
    return status { () throws(Refusal) in
        guard let image = Handle.image(image) else { throw .null("image") }
        guard let map else { throw .null("map") }
        prepareForForks()
        let made = try coded { () throws(CoderError) in try DecoderSet.ofProcess.gainMap(of: image) }
        guard let made else { throw noGainMap }
        map.pointee = Handle.retained(made)
    }
}

private var noGainMap: Refusal { Refusal(SDD_ERROR_NOT_FOUND, "image", "it has no gain map") }

extension sdd_gain_map_info {
    fileprivate init(_ map: GainMap) {
        self.init()
        kind = map.kind.rawValue
        is_base_hdr = map.isBaseHDR ? 1 : 0
        offset = map.place.lowerBound
        size = map.place.count
        min_boost = triple(map) { $0.minBoost }
        max_boost = triple(map) { $0.maxBoost }
        gamma = triple(map) { $0.gamma }
        offset_sdr = triple(map) { $0.offsetSDR }
        offset_hdr = triple(map) { $0.offsetHDR }
        capacity_min = map.minCapacity
        capacity_max = map.maxCapacity
    }
}

/// Returns a number of each channel; if the map has one for all of them, three times that.
private func triple(_ map: GainMap, _ number: (GainMap.Channel) -> Double) -> (Double, Double, Double) {
    let numbers = map.channels.map(number)
    let last = numbers.count - 1
    return (numbers[0], numbers[min(1, last)], numbers[min(2, last)])
}
