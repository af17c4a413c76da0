internal import Glibc

/// MD5 (RFC 1321), for names of files. A name and no security: whoever needs to know what a file holds looks at the
/// key inside.
package enum MD5 {
    /// As 32 digits, in lower case.
    package static func hex(of text: String) -> String {
        var text = text
        let bytes = text.withUTF8 { Self.digest(of: UnsafeRawBufferPointer($0)) }
        return String(unsafeUninitializedCapacity: 32) { place in
            for (index, byte) in bytes.enumerated() {
                place[2 * index] = digit(byte >> 4)
                place[2 * index + 1] = digit(byte & 15)
            }
            return 32
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? value + 0x30 : value + 0x57 }

    package static func digest(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var state = State()
        let whole = bytes.count & ~63
        for start in stride(from: 0, to: whole, by: 64) {
            state.add(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + 64)]))
        }
        // RFC 1321 §3.1, §3.2: a one, zeros, and the length in bits, up to a whole block.
        let rest = bytes.count - whole
        var last = [UInt8](repeating: 0, count: rest < 56 ? 64 : 128)
        for index in 0..<rest { last[index] = bytes[whole + index] }
        last[rest] = 0x80
        let bits = UInt64(bytes.count) &* 8
        for index in 0..<8 { last[last.count - 8 + index] = UInt8(truncatingIfNeeded: bits >> (8 * UInt64(index))) }
        last.withUnsafeBytes { last in
            for start in stride(from: 0, to: last.count, by: 64) {
                state.add(UnsafeRawBufferPointer(rebasing: last[start..<(start + 64)]))
            }
        }
        return [state.a, state.b, state.c, state.d].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
        }
    }

    /// RFC 1321 §3.4: the whole part of 4294967296 times abs(sin(i)).
    private static let table: [UInt32] = (1...64).map { UInt32(4_294_967_296 * abs(sin(Double($0)))) }

    /// RFC 1321 §3.4: by how much each of the four rounds turns, in turn.
    private static let turns: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    private struct State {
        var a: UInt32 = 0x6745_2301
        var b: UInt32 = 0xefcd_ab89
        var c: UInt32 = 0x98ba_dcfe
        var d: UInt32 = 0x1032_5476

        /// A block of 64 bytes.
        mutating func add(_ block: UnsafeRawBufferPointer) {
            let before = self
            MD5.table.withUnsafeBufferPointer { table in
                MD5.turns.withUnsafeBufferPointer { turns in
                    for step in 0..<64 { take(step, block, table, turns) }
                }
            }
            a = a &+ before.a
            b = b &+ before.b
            c = c &+ before.c
            d = d &+ before.d
        }

        @inline(__always) private mutating func take(
            _ step: Int, _ block: UnsafeRawBufferPointer, _ table: UnsafeBufferPointer<UInt32>,
            _ turns: UnsafeBufferPointer<UInt32>
        ) {
            let (mixed, index) =
                switch step >> 4 {
                case 0: (b & c | ~b & d, step)
                case 1: (b & d | c & ~d, 5 * step + 1)
                case 2: (b ^ c ^ d, 3 * step + 5)
                default: (c ^ (b | ~d), 7 * step)
                }
            let word = block.loadUnaligned(fromByteOffset: (index & 15) * 4, as: UInt32.self).littleEndian
            let sum = a &+ mixed &+ word &+ table[step]
            let turn = turns[step >> 4 * 4 + step & 3]
            (a, d, c) = (d, c, b)
            b = b &+ (sum &<< turn | sum &>> (32 &- turn))
        }
    }
}
