/// A file of items such as AVIF and HEIF (ISO/IEC 14496-12, 8.11), put together box by box.
package struct ItemFile {
    package struct Item {
        package var type: String
        package var data: [UInt8]
        package var mediaType = ""
        /// Names and contents of boxes.
        package var properties: [(name: String, content: [UInt8])] = []

        package init(
            _ type: String, _ data: [UInt8] = [], mediaType: String = "",
            properties: [(name: String, content: [UInt8])] = []
        ) {
            (self.type, self.data, self.mediaType, self.properties) = (type, data, mediaType, properties)
        }
    }

    /// How the file writes its numbers.
    package enum Style: CaseIterable {
        /// As most encoders do: identifiers of 16 bits.
        case usual
        /// Identifiers of 32 bits, places of 64 bits that count from a base, long indexes and sizes of boxes.
        case wide
        /// Data in the box "idat".
        case inside
    }

    package var style = Style.usual
    package var brand = "avif"
    /// Their identifiers are `firstID` and those behind it.
    package var items: [Item]
    package var firstID = 1
    package var primary = 1
    package var references: [(kind: String, from: Int, to: [Int])] = []
    /// What "iloc" says of an item in place of the truth, by its identifier: pieces, each with its place and size.
    package var places: [Int: [(Int, Int)]] = [:]
    /// Boxes that are left out.
    package var missing: Set<String> = []
    /// Boxes in front of the others in "meta".
    package var inFront: [UInt8] = []

    package init(_ items: [Item]) { self.items = items }

    package static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        number(8 + content.count, 4) + Array(name.utf8) + content
    }

    package static func box(_ name: String, version: Int, flags: Int = 0, _ content: [UInt8]) -> [UInt8] {
        box(name, [UInt8(version)] + number(flags, 3) + content)
    }

    package static func number(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    package var bytes: [UInt8] {
        let type = Self.box("ftyp", Array(brand.utf8) + [0, 0, 0, 0] + Array("mif1".utf8))
        let data = items.flatMap(\.data)
        if style == .inside { return type + meta(dataAt: 0) }
        let start = type.count + meta(dataAt: 0).count + 8
        return type + meta(dataAt: start) + Self.box("mdat", data)
    }

    private var idSize: Int { style == .wide ? 4 : 2 }
    private func id(_ number: Int) -> [UInt8] { Self.number(number, idSize) }

    private func meta(dataAt start: Int) -> [UInt8] {
        let isWide = style == .wide
        let parts: [(name: String, box: [UInt8])] = [
            ("pitm", Self.box("pitm", version: isWide ? 1 : 0, id(primary))),
            ("iloc", locations(dataAt: start)),
            ("iinf", list),
            (
                "iref",
                Self.box(
                    "iref", version: isWide ? 1 : 0,
                    references.flatMap { reference in
                        Self.box(
                            reference.kind,
                            id(reference.from) + Self.number(reference.to.count, 2) + reference.to.flatMap { id($0) })
                    })
            ),
            ("iprp", properties),
            ("idat", style == .inside ? Self.box("idat", items.flatMap(\.data)) : []),
        ]
        var content: [UInt8] = [0, 0, 0, 0] + inFront
        for part in parts where !missing.contains(part.name) { content += part.box }
        guard isWide else { return Self.box("meta", content) }
        return Self.number(1, 4) + Array("meta".utf8) + Self.number(16 + content.count, 8) + content
    }

    private var list: [UInt8] {
        let isWide = style == .wide
        var entries: [UInt8] = []
        for (index, item) in items.enumerated() {
            var entry = id(firstID + index) + [0, 0] + Array(item.type.utf8) + [0]
            if item.type == "mime" { entry += Array(item.mediaType.utf8) + [0] }
            entries += Self.box("infe", version: isWide ? 3 : 2, entry)
        }
        return Self.box("iinf", version: isWide ? 1 : 0, Self.number(items.count, isWide ? 4 : 2) + entries)
    }

    private func locations(dataAt start: Int) -> [UInt8] {
        let size = style == .wide ? 8 : 4
        var made =
            style == .wide ? [0x88, 0x80] + Self.number(items.count, 4) : [0x44, 0] + Self.number(items.count, 2)
        var place = 0
        for (index, item) in items.enumerated() {
            let pieces = places[firstID + index] ?? [(start + place, item.data.count)]
            made += id(firstID + index) + (style == .usual ? [] : [0, style == .inside ? 1 : 0]) + [0, 0]
            // With a base, places count from 3.
            if style == .wide { made += Self.number(3, 8) }
            made += Self.number(pieces.count, 2)
            for (place, length) in pieces {
                made += Self.number(style == .wide ? place &- 3 : place, size) + Self.number(length, size)
            }
            place += item.data.count
        }
        return Self.box("iloc", version: style == .wide ? 2 : style == .inside ? 1 : 0, made)
    }

    private var properties: [UInt8] {
        let isWide = style == .wide
        var (boxes, associations, count) = ([UInt8](), [UInt8](), 0)
        for (index, item) in items.enumerated() {
            associations += id(firstID + index) + [UInt8(item.properties.count)]
            for property in item.properties {
                boxes += Self.box(property.name, property.content)
                count += 1
                associations += isWide ? Self.number(0x8000 | count, 2) : [0x80 | UInt8(count)]
            }
        }
        return Self.box(
            "iprp",
            Self.box("ipco", boxes)
                + Self.box(
                    "ipma", version: isWide ? 1 : 0, flags: isWide ? 1 : 0,
                    Self.number(items.count, 4) + associations))
    }
}
