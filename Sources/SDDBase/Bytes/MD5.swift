internal import Glibc

/// MD5 (RFC 1321), used for file names and by Digest authentication (RFC 7616). It provides no security for file names:
/// readers compare the key that is stored inside the file.
package enum MD5 {
    /// Returns the digest as 32 hexadecimal digits in lower case.
    package static func hex(of text: String) -> String {
        var text = text
        return text.withUTF8 { text in
            String(unsafeUninitializedCapacity: 32) { place in
                writeHex(of: UnsafeRawBufferPointer(text), to: place)
                return 32
            }
        }
    }

    /// Whether the name begins like one that is made with `hex(of:)`.
    package static func begins(_ name: String) -> Bool {
        let digits = name.utf8.prefix(32)
        return digits.count == 32
            && digits.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    /// Whether the name is one that is made with `hex(of:)` and a suffix.
    package static func begins(_ name: String, before suffix: String) -> Bool {
        name.utf8.count == 32 + suffix.utf8.count && name.hasSuffix(suffix) && begins(name)
    }

    /// - Parameter place: room for at least 32 digits.
    package static func writeHex(of bytes: UnsafeRawBufferPointer, to place: UnsafeMutableBufferPointer<UInt8>) {
        let state = Self.state(after: bytes)
        write(state.a, to: place, at: 0)
        write(state.b, to: place, at: 8)
        write(state.c, to: place, at: 16)
        write(state.d, to: place, at: 24)
    }

    /// Writes the low byte first, and the high digit of each byte first.
    private static func write(_ word: UInt32, to place: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        for index in 0..<8 {
            let value = UInt8(truncatingIfNeeded: word >> UInt32(4 * (index ^ 1))) & 15
            place[start + index] = value < 10 ? value + 0x30 : value + 0x57
        }
    }

    private static func state(after bytes: UnsafeRawBufferPointer) -> State {
        var state = State()
        let whole = bytes.count & ~63
        for start in stride(from: 0, to: whole, by: 64) {
            state.add(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + 64)]))
        }
        // RFC 1321 §3.1, §3.2: pad with a one bit, zeros and the length in bits up to a whole block.
        let rest = UnsafeRawBufferPointer(rebasing: bytes[whole...])
        withUnsafeTemporaryAllocation(byteCount: rest.count < 56 ? 64 : 128, alignment: 8) { last in
            last.initializeMemory(as: UInt8.self, repeating: 0)
            last.copyMemory(from: rest)
            last[rest.count] = 0x80
            let bits = (UInt64(bytes.count) &* 8).littleEndian
            last.storeBytes(of: bits, toByteOffset: last.count - 8, as: UInt64.self)
            for start in stride(from: 0, to: last.count, by: 64) {
                state.add(UnsafeRawBufferPointer(rebasing: last[start..<(start + 64)]))
            }
        }
        return state
    }

    /// RFC 1321 §3.4: the integer part of 4294967296 times abs(sin(i)).
    private static let table: [UInt32] = (1...64).map { UInt32(4_294_967_296 * abs(sin(Double($0)))) }

    private struct State {
        var a: UInt32 = 0x6745_2301
        var b: UInt32 = 0xefcd_ab89
        var c: UInt32 = 0x98ba_dcfe
        var d: UInt32 = 0x1032_5476

        /// Processes a block of 64 bytes in four rounds.
        mutating func add(_ block: UnsafeRawBufferPointer) {
            let before = self
            MD5.table.withUnsafeBufferPointer { table in
                round(0, block, table, (7, 12, 17, 22), { $0 }, { $0 & $1 | ~$0 & $2 })
                round(16, block, table, (5, 9, 14, 20), { 5 * $0 + 1 }, { $0 & $2 | $1 & ~$2 })
                round(32, block, table, (4, 11, 16, 23), { 3 * $0 + 5 }, { $0 ^ $1 ^ $2 })
                round(48, block, table, (6, 10, 15, 21), { 7 * $0 }, { $1 ^ ($0 | ~$2) })
            }
            a = a &+ before.a
            b = b &+ before.b
            c = c &+ before.c
            d = d &+ before.d
        }

        /// Performs sixteen steps. Each takes the word at `place` and mixes b, c and d.
        @inline(__always) private mutating func round(
            _ first: Int, _ block: UnsafeRawBufferPointer, _ table: UnsafeBufferPointer<UInt32>,
            _ turns: (UInt32, UInt32, UInt32, UInt32), _ place: (Int) -> Int,
            _ mix: (UInt32, UInt32, UInt32) -> UInt32
        ) {
            func word(_ step: Int) -> UInt32 {
                let word = block.loadUnaligned(fromByteOffset: (place(step) & 15) * 4, as: UInt32.self)
                return word.littleEndian &+ table[step]
            }
            for step in stride(from: first, to: first + 16, by: 4) {
                take(mix(b, c, d), word(step), turns.0)
                take(mix(b, c, d), word(step + 1), turns.1)
                take(mix(b, c, d), word(step + 2), turns.2)
                take(mix(b, c, d), word(step + 3), turns.3)
            }
        }

        @inline(__always) private mutating func take(_ mixed: UInt32, _ word: UInt32, _ turn: UInt32) {
            let sum = a &+ mixed &+ word
            (a, d, c) = (d, c, b)
            b = b &+ (sum &<< turn | sum &>> (32 &- turn))
        }
    }
}
