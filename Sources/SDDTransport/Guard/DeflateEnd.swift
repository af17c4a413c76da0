/// Detects the end of deflate data (RFC 1951, with or without the zlib wrapper of RFC 1950) without decompressing it,
/// because libcurl accepts data that stops anywhere as complete; no version up to 8.21.0 ends this reason. It reads
/// each code, and produces no output. Invalid data is left for libcurl to report.
struct DeflateEnd {
    private enum Stage {
        case start, block, storedSize, stored, counts, codeLengths, lengths, symbols
        /// The checksum of RFC 1950, with the number of bytes still to come.
        case checksum(Int)
        case over
        case damaged
    }

    private var stage = Stage.start
    /// Bits that were read but not used yet, the next one lowest.
    private var bits: UInt64 = 0
    private var bitCount = 0
    private var isWrapped = false
    private var isLastBlock = false
    private var storedRest = 0
    /// The counts of codes from the block's header, and the code lengths read so far.
    private var literalCount = 0
    private var codeCount = 0
    private var codeLengthCount = 0
    private var lengths: [UInt8] = []
    private var lengthCode = HuffmanCode.empty
    private var literals = HuffmanCode.empty
    private var distances = HuffmanCode.empty

    var isWhole: Bool {
        if case .over = stage { return true }
        return false
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while true {
            if case .stored = stage { skipStored(&rest) }
            // Two codes with their extra bits take at most 48 bits.
            while bitCount <= 48, let byte = rest.popFirst() {
                bits |= UInt64(byte) << UInt64(bitCount)
                bitCount += 8
            }
            if !step() && rest.isEmpty { return }
            switch stage {
            case .over, .damaged: return
            default: break
            }
        }
    }

    /// - Returns: `false` if more input is needed.
    private mutating func step() -> Bool {
        switch stage {
        case .start: readStart()
        case .block: readBlock()
        case .storedSize: readStoredSize()
        case .stored: storedRest == 0 && endBlock()
        case .counts: readCounts()
        case .codeLengths: readCodeLength()
        case .lengths: readLength()
        case .symbols: readSymbol()
        case .checksum(let rest): readChecksum(rest)
        case .over, .damaged: false
        }
    }

    private mutating func take(_ count: Int) -> Int {
        let value = peek(0, count)
        bits >>= UInt64(count)
        bitCount -= count
        return value
    }

    private func peek(_ offset: Int, _ count: Int) -> Int {
        Int(truncatingIfNeeded: bits >> UInt64(offset) & (1 << UInt64(count) - 1))
    }

    private mutating func damaged() -> Bool {
        stage = .damaged
        return true
    }
}

// MARK: - Wrapping and blocks

extension DeflateEnd {
    /// Reads the zlib header if there is one. Like libcurl, it tells the two forms apart by the first two bytes.
    private mutating func readStart() -> Bool {
        guard bitCount >= 16 else { return false }
        let (method, flags) = (peek(0, 8), peek(8, 8))
        isWrapped = method & 15 == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0
        if isWrapped { _ = take(16) }
        stage = .block
        return true
    }

    private mutating func readBlock() -> Bool {
        guard bitCount >= 3 else { return false }
        isLastBlock = take(1) == 1
        switch take(2) {
        case 0:
            _ = take(bitCount & 7)
            stage = .storedSize
        case 1:
            literals = .fixedLiterals
            distances = .fixedDistances
            stage = .symbols
        case 2: stage = .counts
        default: return damaged()
        }
        return true
    }

    private mutating func endBlock() -> Bool {
        guard isLastBlock else {
            stage = .block
            return true
        }
        _ = take(bitCount & 7)
        stage = isWrapped ? .checksum(4) : .over
        return true
    }

    private mutating func readChecksum(_ rest: Int) -> Bool {
        guard bitCount >= 8 else { return false }
        _ = take(8)
        stage = rest > 1 ? .checksum(rest - 1) : .over
        return true
    }

    private mutating func readStoredSize() -> Bool {
        guard bitCount >= 32 else { return false }
        storedRest = take(16)
        guard take(16) == ~storedRest & 0xffff else { return damaged() }
        stage = .stored
        return true
    }

    /// Skips the bytes of a stored block, first those already in `bits`. They are whole bytes, because a stored block
    /// begins at a byte boundary.
    private mutating func skipStored(_ rest: inout Slice<UnsafeRawBufferPointer>) {
        let held = min(storedRest, bitCount / 8)
        _ = take(8 * held)
        storedRest -= held
        guard bitCount == 0 else { return }
        let count = min(storedRest, rest.count)
        rest = rest.dropFirst(count)
        storedRest -= count
    }
}

// MARK: - Codes

extension DeflateEnd {
    private static let order: [Int] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private mutating func readCounts() -> Bool {
        guard bitCount >= 14 else { return false }
        literalCount = take(5) + 257
        codeCount = literalCount + take(5) + 1
        codeLengthCount = take(4) + 4
        lengths = []
        stage = .codeLengths
        return true
    }

    private mutating func readCodeLength() -> Bool {
        guard bitCount >= 3 else { return false }
        lengths.append(UInt8(truncatingIfNeeded: take(3)))
        guard lengths.count == codeLengthCount else { return true }
        var ordered = [UInt8](repeating: 0, count: Self.order.count)
        for (place, length) in zip(Self.order, lengths) { ordered[place] = length }
        guard let code = HuffmanCode(ordered[...]) else { return damaged() }
        lengthCode = code
        lengths = []
        stage = .lengths
        return true
    }

    private mutating func readLength() -> Bool {
        guard let (symbol, size) = lengthCode.next(bits, bitCount) else { return false }
        guard symbol <= 18 else { return damaged() }
        let extra = symbol < 16 ? 0 : [2, 3, 7][symbol - 16]
        guard bitCount >= size + extra else { return false }
        _ = take(size)
        let number = take(extra)
        switch symbol {
        case 16:
            guard let last = lengths.last else { return damaged() }
            lengths += repeatElement(last, count: number + 3)
        case 17: lengths += repeatElement(0, count: number + 3)
        case 18: lengths += repeatElement(0, count: number + 11)
        default: lengths.append(UInt8(truncatingIfNeeded: symbol))
        }
        return lengths.count < codeCount || beginSymbols()
    }

    private mutating func beginSymbols() -> Bool {
        guard lengths.count == codeCount, let literals = HuffmanCode(lengths[..<literalCount]),
            let distances = HuffmanCode(lengths[literalCount...])
        else { return damaged() }
        self.literals = literals
        self.distances = distances
        stage = .symbols
        return true
    }

    /// Reads a literal, the end of the block, or a length with its distance; consumes all of it, or nothing.
    private mutating func readSymbol() -> Bool {
        guard let (symbol, size) = literals.next(bits, bitCount) else { return false }
        switch symbol {
        case ..<256: _ = take(size)
        case 256:
            _ = take(size)
            return endBlock()
        case ...285:
            let before = size + (symbol < 265 || symbol == 285 ? 0 : (symbol - 261) / 4)
            guard bitCount >= before,
                let (distance, count) = distances.next(bits >> UInt64(before), bitCount - before)
            else { return false }
            guard distance <= 29 else { return damaged() }
            let all = before + count + (distance < 4 ? 0 : (distance - 2) / 2)
            guard bitCount >= all else { return false }
            _ = take(all)
        default: return damaged()
        }
        return true
    }
}

/// A Huffman code of RFC 1951 §3.2.2, which the lengths of its codes define completely.
private struct HuffmanCode {
    /// Number of codes of each length.
    private var counts = [Int](repeating: 0, count: 16)
    /// The symbols in the order of their codes.
    private var symbols: [Int] = []

    static let empty = HuffmanCode()
    static let fixedLiterals = HuffmanCode(
        unchecked: [UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112)
            + [UInt8](repeating: 7, count: 24) + [UInt8](repeating: 8, count: 8))
    static let fixedDistances = HuffmanCode(unchecked: [UInt8](repeating: 5, count: 30))

    private init() {}

    private init(unchecked lengths: [UInt8]) { self = HuffmanCode(lengths[...]) ?? .empty }

    /// - Parameter lengths: The length of each symbol's code, at most 15; 0 for a symbol without a code.
    /// - Returns: `nil` if there are more codes than these lengths allow.
    init?(_ lengths: ArraySlice<UInt8>) {
        for length in lengths { counts[Int(length & 15)] += 1 }
        counts[0] = 0
        var left = 1
        for length in 1...15 {
            left = left * 2 - counts[length]
            if left < 0 { return nil }
        }
        for length in 1...15 {
            for (symbol, its) in lengths.enumerated() where Int(its) == length { symbols.append(symbol) }
        }
    }

    /// Returns the symbol that the bits begin with, and its number of bits; `nil` if there are too few bits. The symbol
    /// is out of range if the bits are not a valid code.
    func next(_ bits: UInt64, _ bitCount: Int) -> (symbol: Int, size: Int)? {
        var (code, first, index) = (0, 0, 0)
        for length in 1...15 {
            guard length <= bitCount else { return nil }
            code |= Int(bits >> UInt64(length - 1) & 1)
            let count = counts[length]
            if code - first < count { return (symbols[index + code - first], length) }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        return (.max, 15)
    }
}
