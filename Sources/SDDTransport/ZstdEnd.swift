/// Follows Zstandard frames (RFC 8878) to their end by the sizes they tell, without unpacking them: libcurl 7.88 takes
/// data that stops anywhere for complete. What cannot be is left to libcurl to complain of. A value.
struct ZstdEnd {
    private enum Stage { case magic, skippableSize, descriptor, block, damaged }

    private var stage = Stage.magic
    /// The number that is being read, lowest byte first.
    private var number: UInt64 = 0
    private var have = 0
    private var need = 4
    /// What is passed over before the next number.
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

    /// §3.1.1.1: what follows the descriptor, and its length.
    private mutating func readDescriptor(_ value: Int) {
        let isSingleSegment = value & 0x20 != 0
        let sizeBytes = value >> 6 == 0 ? (isSingleSegment ? 1 : 0) : 1 << (value >> 6)
        let dictionaryBytes = value & 3 == 3 ? 4 : value & 3
        skip = (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes
        hasChecksum = value & 4 != 0
        enter(.block, need: 3)
    }

    /// §3.1.1.2: a block that repeats one byte has just that.
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
