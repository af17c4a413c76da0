/// Detects the end of Zstandard frames (RFC 8878) by the sizes in them, without decompressing them, because libcurl
/// accepts data that stops anywhere as complete; no version up to 8.21.0 ends this reason. Invalid data is left for
/// libcurl to report.
struct ZstdEnd {
    private enum Stage { case magic, skippableSize, descriptor, block, damaged }

    private var stage = Stage.magic
    /// The number that is being read, lowest byte first.
    private var number: UInt64 = 0
    private var have = 0
    private var need = 4
    /// Bytes to skip before the next number.
    private var skip = 0
    private var hasChecksum = false
    private var frames = 0

    var isWhole: Bool { stage == .magic && have == 0 && skip == 0 && frames > 0 }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty, stage != .damaged {
            if skip > 0 {
                let count = min(skip, rest.count)
                skip -= count
                rest = rest.dropFirst(count)
                continue
            }
            number |= UInt64(rest.removeFirst()) << UInt64(8 * have)
            have += 1
            guard have == need else { continue }
            let whole = number
            (number, have) = (0, 0)
            advance(whole)
        }
    }

    private mutating func enter(_ next: Stage, need bytes: Int) {
        stage = next
        need = bytes
    }

    private mutating func advance(_ value: UInt64) {
        switch stage {
        case .magic where value == 0xfd2f_b528: enter(.descriptor, need: 1)
        case .magic where value & 0xffff_fff0 == 0x184d_2a50: enter(.skippableSize, need: 4)
        case .skippableSize:
            skip = Int(value)
            frames += 1
            enter(.magic, need: 4)
        case .descriptor: readDescriptor(Int(value))
        case .block: readBlock(Int(value))
        case .magic, .damaged: stage = .damaged
        }
    }

    /// Reads the frame header descriptor, which tells the length of the rest of the header: RFC 8878 §3.1.1.1.
    private mutating func readDescriptor(_ value: Int) {
        let isSingleSegment = value & 0x20 != 0
        let sizeBytes = value >> 6 == 0 ? (isSingleSegment ? 1 : 0) : 1 << (value >> 6)
        let dictionaryBytes = value & 3 == 3 ? 4 : value & 3
        skip = (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes
        hasChecksum = value & 4 != 0
        enter(.block, need: 3)
    }

    /// Reads the header of a block: RFC 8878 §3.1.1.2. A block that repeats one byte contains only that byte.
    private mutating func readBlock(_ value: Int) {
        let kind = value >> 1 & 3
        guard kind != 3 else { return stage = .damaged }
        skip = kind == 1 ? 1 : value >> 3
        guard value & 1 == 1 else { return }
        if hasChecksum { skip += 4 }
        frames += 1
        enter(.magic, need: 4)
    }
}
