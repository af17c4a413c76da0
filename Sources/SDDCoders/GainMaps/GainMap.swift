internal import Glibc

/// A gain map inside a picture: where it lies, and what its values mean. It makes a rendition for HDR of one for SDR, or
/// the other way round. Nothing here renders. A value.
package struct GainMap: Equatable, Sendable {
    /// The raw values are SDD_GAIN_MAP_ of the C header.
    package enum Kind: Int32, Sendable {
        case iso = 1
        case ultraHDR = 2
        case apple = 3
    }

    /// The numbers for one channel, boosts in powers of two.
    package struct Channel: Equatable, Sendable {
        package var minBoost = 0.0
        package var maxBoost = 0.0
        package var gamma = 1.0
        package var offsetSDR = 0.0
        package var offsetHDR = 0.0

        var isPossible: Bool {
            [minBoost, maxBoost, gamma, offsetSDR, offsetHDR].allSatisfy(\.isFinite) && minBoost <= maxBoost
                && gamma > 0
        }
    }

    package let kind: Kind
    /// One for all channels, or three.
    package let channels: [Channel]
    /// The headroom of displays, in powers of two, below which the map has no effect and from which on it has all.
    package let minCapacity: Double
    package let maxCapacity: Double
    /// True if the picture itself is the rendition for HDR.
    package let isBaseHDR: Bool
    /// Where the map lies in the picture's bytes: a JPEG of its own, or the data of an item; empty if that is in several
    /// pieces.
    package internal(set) var place = 0..<0
    /// What it is in a file of items; `nil` in a JPEG.
    package internal(set) var item: Item?

    /// Fails for numbers that mean nothing.
    init?(_ kind: Kind, _ channels: [Channel], minCapacity: Double, maxCapacity: Double, isBaseHDR: Bool = false) {
        guard channels.count == 1 || channels.count == 3, minCapacity.isFinite, maxCapacity.isFinite,
            minCapacity <= maxCapacity, kind == .apple || channels.allSatisfy(\.isPossible)
        else { return nil }
        self.kind = kind
        self.channels = channels
        self.minCapacity = minCapacity
        self.maxCapacity = maxCapacity
        self.isBaseHDR = isBaseHDR
    }
}

// MARK: - ISO 21496-1

extension GainMap {
    /// Reads the metadata of ISO 21496-1, annex C: numbers are fractions of 32 bits, the first byte first. libultrahdr
    /// also writes all of them with one denominator, which a flag announces.
    /// - Returns: `nil` for what is none: a version that must not be read, too few bytes, or a denominator of 0.
    init?(iso bytes: UnsafeRawBufferPointer) {
        var cursor = ByteCursor(bytes)
        guard cursor.number16() == 0, cursor.number16() != nil, let flags = cursor.number8() else { return nil }
        var fractions = Fractions(cursor)
        if flags & 0x08 != 0 { fractions.readDenominator() }
        guard let base = fractions.next(), let alternate = fractions.next() else { return nil }
        let isBaseHDR = base > alternate
        var channels: [Channel] = []
        for _ in 0..<(flags & 0x80 != 0 ? 3 : 1) {
            guard let minimum = fractions.next(isSigned: true), let maximum = fractions.next(isSigned: true),
                let gamma = fractions.next(), let baseOffset = fractions.next(isSigned: true),
                let otherOffset = fractions.next(isSigned: true)
            else { return nil }
            channels.append(
                Channel(
                    minBoost: minimum, maxBoost: maximum, gamma: gamma,
                    offsetSDR: isBaseHDR ? otherOffset : baseOffset, offsetHDR: isBaseHDR ? baseOffset : otherOffset))
        }
        self.init(
            .iso, channels, minCapacity: min(base, alternate), maxCapacity: max(base, alternate), isBaseHDR: isBaseHDR)
    }
}

/// Reads fractions. A value.
private struct Fractions {
    private var cursor: ByteCursor
    /// The denominator of all of them; `nil` if each has its own.
    private var common: Int?

    init(_ cursor: ByteCursor) { self.cursor = cursor }

    mutating func readDenominator() { common = cursor.number32() ?? 0 }

    mutating func next(isSigned: Bool = false) -> Double? {
        guard let bits = cursor.number32(), let denominator = common ?? cursor.number32(), denominator > 0 else {
            return nil
        }
        let numerator = isSigned ? Int(Int32(truncatingIfNeeded: bits)) : bits
        return Double(numerator) / Double(denominator)
    }
}

// MARK: - XMP

extension GainMap {
    /// The namespace of Adobe's gain maps, which are those of Ultra HDR 1.0
    /// (https://developer.android.com/media/platform/hdr-image-format).
    static let adobe = "http://ns.adobe.com/hdr-gain-map/1.0/"
    /// The name of Apple's maps.
    static let appleAuxiliary = "urn:com:apple:photo:2020:aux:hdrgainmap"

    /// Reads the XMP packet of a map.
    /// - Returns: `nil` if it describes none, or has numbers that mean nothing.
    /// - Parameter exif: the Exif block of the picture that it belongs to.
    init?(xmp packet: XMPPacket, exif: UnsafeRawBufferPointer?) {
        if let prefix = packet.prefix(of: Self.adobe) {
            self.init(adobe: packet, prefix)
        } else if let prefix = packet.prefix(of: "http://ns.apple.com/pixeldatainfo/1.0/"),
            packet.values(prefix, "AuxiliaryImageType") == [Self.appleAuxiliary]
        {
            self.init(apple: packet, exif)
        } else {
            return nil
        }
    }

    private init?(adobe packet: XMPPacket, _ prefix: String) {
        let numbers = { (name: String, other: Double?) -> [Double]? in
            let texts = packet.values(prefix, name)
            let values = texts.compactMap { Double($0) }
            if texts.isEmpty, let other { return [other] }
            return values.count == texts.count && (values.count == 1 || values.count == 3) ? values : nil
        }
        guard let minimum = numbers("GainMapMin", 0), let maximum = numbers("GainMapMax", nil),
            let gamma = numbers("Gamma", 1), let offsetSDR = numbers("OffsetSDR", 1.0 / 64),
            let offsetHDR = numbers("OffsetHDR", 1.0 / 64), let minCapacity = numbers("HDRCapacityMin", 0),
            let maxCapacity = numbers("HDRCapacityMax", nil)
        else { return nil }
        let isGrey = [minimum, maximum, gamma, offsetSDR, offsetHDR].allSatisfy { $0.count == 1 }
        let channels = (0..<(isGrey ? 1 : 3)).map { index in
            let value = { (values: [Double]) in values[min(index, values.count - 1)] }
            return Channel(
                minBoost: value(minimum), maxBoost: value(maximum), gamma: value(gamma), offsetSDR: value(offsetSDR),
                offsetHDR: value(offsetHDR))
        }
        self.init(
            .ultraHDR, channels, minCapacity: minCapacity[0], maxCapacity: maxCapacity[0],
            isBaseHDR: packet.values(prefix, "BaseRenditionIsHDR").first?.lowercased() == "true")
    }

    /// Apple's maps are not logarithmic. Newer ones have the headroom in XMP, older ones in the picture's maker note.
    init?(apple packet: XMPPacket?, _ exif: UnsafeRawBufferPointer?) {
        let prefix = packet?.prefix(of: "http://ns.apple.com/HDRGainMap/1.0/")
        let text = prefix.flatMap { packet?.values($0, "HDRGainMapHeadroom").first }
        let stops: Double
        if let text {
            guard let headroom = Double(text), headroom.isFinite, headroom >= 1 else { return nil }
            stops = log2(headroom)
        } else {
            stops = exif.flatMap { AppleHeadroom.stops(inExif: $0) } ?? 0
        }
        let channel = Channel(minBoost: 0, maxBoost: stops, gamma: 0, offsetSDR: 0, offsetHDR: 0)
        self.init(.apple, [channel], minCapacity: 0, maxCapacity: stops)
    }
}
