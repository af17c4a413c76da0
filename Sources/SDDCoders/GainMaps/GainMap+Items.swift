internal import Glibc
package import SDDBase

extension GainMap {
    /// The item of an AVIF or HEIF file that is a map. A value.
    package struct Item: Equatable, Sendable {
        let id: Int
        /// Where the file says which item is to be shown.
        let primaryPlace: Range<Int>
    }

    /// Items that may describe a map; known files have one.
    private static let mostItems = 16

    /// Finds the gain map of an AVIF or HEIF: one that ISO 21496-1 describes, which goes before, or Apple's.
    /// - Returns: `nil` if there is none.
    /// - Throws: `.truncated` if the map lies behind the end, `.corrupt` if its description cannot be read.
    package static func find(inItems bytes: UnsafeRawBufferPointer) throws(CoderError) -> GainMap? {
        // Of a sequence the coders decode the frames, whatever its items are.
        guard !bytes.dropFirst(8).starts(with: "avis".utf8), let items = PictureItems(bytes) else { return nil }
        do throws(CoderError) {
            if let map = try iso(items) { return map }
        } catch {
            if let map = try? apple(items) { return map }
            throw error
        }
        return try apple(items)
    }

    /// Finds what an item "tmap" makes of the picture and another item, the map (ISO/IEC 23008-12, 6.6.2.4).
    private static func iso(_ items: PictureItems) throws(CoderError) -> GainMap? {
        let derived = Array(items.items.lazy.filter { $0.type == "tmap" }.map(\.id).prefix(mostItems))
        let found = items.references.first {
            $0.kind == "dimg" && $0.count == 2 && $0.target(0) == items.primary && derived.contains($0.from)
        }
        guard let found, let id = found.target(1), id != items.primary else { return nil }
        if let place = items.place(of: found.from), place.upperBound > items.bytes.count {
            throw CoderError(.truncated, "the description of its gain map lies behind the end")
        }
        // A version stands before what JPEGs have, too.
        guard let data = items.data(of: found.from), data.first == 0,
            let map = GainMap(iso: UnsafeRawBufferPointer(rebasing: data.dropFirst()))
        else { throw CoderError(.corrupt, "the description of its gain map cannot be read") }
        return try map.placed(id, in: items)
    }

    /// Finds Apple's map, an auxiliary picture (ISO/IEC 23008-12, 6.4.4).
    private static func apple(_ items: PictureItems) throws(CoderError) -> GainMap? {
        let found = items.sources(of: items.primary, "auxl", most: mostItems).first { id in
            items.property("auxC", of: id)?.dropFirst(4).starts(with: "\(appleAuxiliary)\0".utf8) == true
        }
        guard let found else { return nil }
        let xmp = items.description(of: found) { $0.mediaType?.elementsEqual("application/rdf+xml".utf8) == true }
        let exif = items.description(of: items.primary) { $0.type == "Exif" }
        guard let map = GainMap(apple: xmp.map { XMPPacket($0) }, exif.flatMap { tiff(inExif: $0) }) else {
            throw CoderError(.corrupt, "the description of its gain map cannot be read")
        }
        return try map.placed(found, in: items)
    }

    /// Returns the block of an item "Exif", which begins with where in it the block lies (ISO/IEC 23008-12, A.2.1).
    private static func tiff(inExif data: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var cursor = ByteCursor(data)
        guard let skipped = cursor.number32(), cursor.take(skipped) != nil else { return nil }
        return cursor.takeRest()
    }

    private func placed(_ id: Int, in items: PictureItems) throws(CoderError) -> GainMap {
        guard let item = items.items.first(where: { $0.id == id }) else {
            throw CoderError(.corrupt, "its gain map is missing")
        }
        var map = self
        map.item = Item(id: id, primaryPlace: items.primaryPlace)
        // The data of what is put together of others is no picture.
        if let place = items.place(of: id), !["grid", "iovl", "iden"].contains(item.type) {
            guard place.upperBound <= items.bytes.count else {
                throw CoderError(.truncated, "its gain map lies behind the end")
            }
            map.place = place
        }
        return map
    }

    /// Returns the map as a file of its own.
    /// - Parameter bytes: those of the picture.
    package func file(in bytes: UnsafeRawBufferPointer) throws(CoderError) -> Bytes {
        guard let item else { return try Bytes.copy(UnsafeRawBufferPointer(rebasing: bytes[place])) }
        guard item.primaryPlace.count == 4 || item.id <= 0xffff else {
            throw CoderError(.unsupported, "the number of its gain map is too large")
        }
        guard let source = bytes.baseAddress, let copy = malloc(bytes.count) else { throw CoderError(.noMemory) }
        memcpy(copy, source, bytes.count)
        // The same file, in which the map is what is to be shown.
        for (index, place) in item.primaryPlace.reversed().enumerated() {
            copy.storeBytes(of: UInt8(truncatingIfNeeded: item.id >> (8 * index)), toByteOffset: place, as: UInt8.self)
        }
        return Bytes(adopting: copy, count: bytes.count)
    }
}

extension PictureItems {
    /// Returns the first items that refer to another.
    fileprivate func sources(of id: Int, _ kind: FourLetters, most: Int) -> [Int] {
        Array(references.lazy.filter { $0.kind == kind && $0.refers(to: id) }.map(\.from).prefix(most))
    }

    /// Returns the data of an item that describes another.
    fileprivate func description(of id: Int, where isWanted: (Item) -> Bool) -> UnsafeRawBufferPointer? {
        let describing = sources(of: id, "cdsc", most: 16)
        return items.first { describing.contains($0.id) && isWanted($0) }.flatMap { data(of: $0.id) }
    }
}

extension Image {
    /// Finds the picture's gain map; `nil` if there is none, or if the image has no encoded bytes.
    package func gainMap() throws(CoderError) -> GainMap? {
        guard let bytes, let format else { return nil }
        defer { withExtendedLifetime(bytes) {} }
        switch format {
        case .jpeg: return try GainMap.find(inJPEG: bytes.pointer)
        case .avif, .heif: return try GainMap.find(inItems: bytes.pointer)
        default: return nil
        }
    }
}
