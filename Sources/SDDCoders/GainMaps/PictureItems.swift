/// The items of a file such as AVIF and HEIF (ISO/IEC 14496-12, 8.11, and 23008-12): what they are, how they refer to each
/// other, and where their data lies. Nothing is unpacked: each question takes one pass over a box, so that it costs no
/// more than the box is long. A value; the bytes must outlive it.
struct PictureItems {
    let bytes: UnsafeRawBufferPointer
    /// The item that programs show.
    let primary: Int
    /// Where the file says which item that is: 2 or 4 bytes.
    let primaryPlace: Range<Int>
    /// The contents of boxes.
    private let boxes: [FourLetters: UnsafeRawBufferPointer]

    /// Fails for a file without items, or without a primary one.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let meta = BoxReader(bytes).first(where: { $0.name == "meta" }), meta.content.count >= 4 else {
            return nil
        }
        var boxes: [FourLetters: UnsafeRawBufferPointer] = [:]
        for box in BoxReader(meta.content.from(4)) where Self.names.contains(box.name) && boxes[box.name] == nil {
            boxes[box.name] = box.content
        }
        guard let box = boxes["pitm"], let (version, rest) = box.versioned,
            let primary = rest.number(at: 0, size: version == 0 ? 2 : 4), let place = bytes.place(of: rest)
        else { return nil }
        self.bytes = bytes
        self.primary = primary
        primaryPlace = place.lowerBound..<place.lowerBound + (version == 0 ? 2 : 4)
        self.boxes = boxes
    }

    private static let names: Set<FourLetters> = ["pitm", "iinf", "iref", "iprp", "iloc", "idat"]

    private func content(_ name: FourLetters) -> (version: Int, rest: UnsafeRawBufferPointer)? {
        boxes[name]?.versioned
    }
}

// MARK: - What items are

extension PictureItems {
    struct Item {
        let id: Int
        let type: FourLetters
        /// The media type of an item of the type "mime".
        let mediaType: UnsafeRawBufferPointer?

        fileprivate init?(_ entry: UnsafeRawBufferPointer) {
            var cursor = ByteCursor(entry)
            guard let version = cursor.number8(), version >= 2, cursor.take(3) != nil,
                let id = version == 2 ? cursor.number16() : cursor.number32(), cursor.take(2) != nil,
                let type = cursor.number32()
            else { return nil }
            self.id = id
            self.type = FourLetters(number: type)
            mediaType = self.type == "mime" && cursor.takeText() != nil ? cursor.takeText() : nil
        }
    }

    /// The list of items ("iinf").
    var items: some Sequence<Item> {
        let list = content("iinf").map { $0.rest.from($0.version == 0 ? 2 : 4) } ?? bytes.from(bytes.count)
        return BoxReader(list).lazy.filter { $0.name == "infe" }.compactMap { Item($0.content) }
    }

    /// Returns a property of an item, by its name.
    func property(_ name: FourLetters, of id: Int) -> UnsafeRawBufferPointer? {
        guard let all = boxes["iprp"], let container = BoxReader(all).first(where: { $0.name == "ipco" }) else {
            return nil
        }
        // Indexes have up to 15 bits.
        let properties = Array(BoxReader(container.content).prefix(0x7fff))
        for box in BoxReader(all) where box.name == "ipma" {
            for index in Self.properties(of: id, in: box.content) where index > 0 && index <= properties.count {
                if properties[index - 1].name == name { return properties[index - 1].content }
            }
        }
        return nil
    }

    /// Returns the numbers of an item's properties.
    private static func properties(of wanted: Int, in box: UnsafeRawBufferPointer) -> [Int] {
        var cursor = ByteCursor(box)
        guard let head = cursor.number32(), let entries = cursor.number32() else { return [] }
        let isLong = head & 1 != 0
        for _ in 0..<entries {
            guard let id = head >> 24 == 0 ? cursor.number16() : cursor.number32(), let count = cursor.number8(),
                let indexes = cursor.take(isLong ? 2 * count : count)
            else { return [] }
            // The highest bit says that a program must know the property.
            if id == wanted {
                return (0..<count).map {
                    isLong ? (indexes.number(at: 2 * $0, size: 2) ?? 0) & 0x7fff : Int(indexes[$0] & 0x7f)
                }
            }
        }
        return []
    }
}

// MARK: - How items refer to each other

extension PictureItems {
    struct Reference {
        let kind: FourLetters
        let from: Int
        /// Number of items that it refers to.
        let count: Int
        private let ids: UnsafeRawBufferPointer
        private let idSize: Int

        fileprivate init?(_ box: BoxReader.Box, idSize: Int) {
            var cursor = ByteCursor(box.content)
            guard let from = idSize == 2 ? cursor.number16() : cursor.number32(), let count = cursor.number16(),
                let ids = cursor.take(count * idSize)
            else { return nil }
            (kind, self.from, self.count, self.ids, self.idSize) = (box.name, from, count, ids, idSize)
        }

        func target(_ index: Int) -> Int? { ids.number(at: index * idSize, size: idSize) }
        func refers(to id: Int) -> Bool { (0..<count).contains { target($0) == id } }
    }

    var references: some Sequence<Reference> {
        let (version, list) = content("iref") ?? (0, bytes.from(bytes.count))
        return BoxReader(list).lazy.compactMap { Reference($0, idSize: version == 0 ? 2 : 4) }
    }
}

// MARK: - Where data lies

extension PictureItems {
    /// Finds the data of an item ("iloc").
    /// - Returns: also a place behind the end of the file; `nil` if the file does not say it, or in several pieces.
    func place(of wanted: Int) -> Range<Int>? {
        guard let (version, list) = content("iloc") else { return nil }
        var cursor = ByteCursor(list)
        guard let sizes = cursor.number16(), let count = version < 2 ? cursor.number16() : cursor.number32() else {
            return nil
        }
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version > 0 ? sizes & 15 : 0
        for _ in 0..<count {
            guard let id = version < 2 ? cursor.number16() : cursor.number32(),
                let method = version > 0 ? cursor.number16() : 0, let file = cursor.number16(),
                let base = cursor.number(size: baseSize), let pieces = cursor.number16(),
                let all = cursor.take(pieces * (indexSize + offsetSize + lengthSize))
            else { return nil }
            guard id == wanted else { continue }
            guard pieces == 1, file == 0, let offset = all.number(at: indexSize, size: offsetSize),
                let length = all.number(at: indexSize + offsetSize, size: lengthSize)
            else { return nil }
            let (start, isTooFar) = base.addingReportingOverflow(offset)
            return isTooFar ? nil : place(start, length, method: method & 15)
        }
        return nil
    }

    /// - Parameter method: 0 for places in the file, 1 for those in the box "idat".
    private func place(_ start: Int, _ length: Int, method: Int) -> Range<Int>? {
        let source: Range<Int>?
        switch method {
        case 0: source = 0..<bytes.count
        case 1: source = boxes["idat"].flatMap { bytes.place(of: $0) }
        default: source = nil
        }
        guard let source else { return nil }
        let (first, isTooFar) = source.lowerBound.addingReportingOverflow(start)
        // A length of 0 is up to the end.
        let (end, isTooLong) = first.addingReportingOverflow(length > 0 ? length : max(source.count - start, 0))
        guard !isTooFar, !isTooLong, method == 0 || end <= source.upperBound else { return nil }
        return first..<end
    }

    /// Returns the data of an item; `nil` if it is not all there, in one piece.
    func data(of id: Int) -> UnsafeRawBufferPointer? {
        guard let place = place(of: id), place.upperBound <= bytes.count else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[place])
    }
}

// MARK: - Boxes

/// The name of a box, of an item's type or of a reference.
struct FourLetters: Hashable, ExpressibleByStringLiteral {
    private let number: Int

    init(number: Int) { self.number = number }
    init(stringLiteral text: StaticString) {
        number =
            UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount).number(at: 0, size: 4) ?? 0
    }
}

/// Reads boxes, one after the other, up to the end or a damaged one (ISO/IEC 14496-12, 4.2). A value.
private struct BoxReader: Sequence, IteratorProtocol {
    struct Box {
        let name: FourLetters
        let content: UnsafeRawBufferPointer
    }

    private var cursor: ByteCursor

    init(_ bytes: UnsafeRawBufferPointer) { cursor = ByteCursor(bytes) }

    mutating func next() -> Box? {
        guard var size = cursor.number32(), let name = cursor.number32() else { return nil }
        var head = 8
        if size == 1 {
            guard let long = cursor.number(size: 8) else { return nil }
            (size, head) = (long, 16)
        }
        guard let content = size == 0 ? cursor.takeRest() : cursor.take(size - head) else { return nil }
        return Box(name: FourLetters(number: name), content: content)
    }
}

extension ByteCursor {
    /// Reads a number of up to 8 bytes, the first byte first.
    /// - Returns: `nil` also for one over `Int.max`.
    fileprivate mutating func number(size: Int) -> Int? { take(size)?.number(at: 0, size: size) }
}

extension UnsafeRawBufferPointer {
    /// Returns a number of up to 8 bytes, the first byte first; `nil` also for one over `Int.max`.
    fileprivate func number(at place: Int, size: Int) -> Int? {
        guard size <= 8, place >= 0, place <= count - size else { return nil }
        return Int(exactly: self[place..<place + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Returns the bytes from a place on.
    fileprivate func from(_ place: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: dropFirst(place)) }

    /// Returns where a part lies; `nil` for an empty one.
    fileprivate func place(of part: UnsafeRawBufferPointer) -> Range<Int>? {
        guard let first = baseAddress, let start = part.baseAddress, !part.isEmpty else { return nil }
        return start - first..<start - first + part.count
    }

    /// The version of a box that has one, and what stands behind it and the flags.
    fileprivate var versioned: (version: Int, rest: UnsafeRawBufferPointer)? {
        count >= 4 ? (Int(self[0]), from(4)) : nil
    }
}
