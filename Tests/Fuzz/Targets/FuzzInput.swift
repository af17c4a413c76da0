import SDDBase

/// One input of the fuzzer: its first bytes control how the rest is used.
struct FuzzInput {
    static let controlCount = 8

    let control: [UInt8]
    let body: UnsafeRawBufferPointer

    /// Returns `nil` if there is no body.
    init?(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
        guard let bytes, count > Self.controlCount else { return nil }
        let all = UnsafeRawBufferPointer(start: bytes, count: count)
        control = Array(all.prefix(Self.controlCount))
        body = UnsafeRawBufferPointer(rebasing: all.dropFirst(Self.controlCount))
    }

    /// Growing prefix lengths of the body: at most 40, the last of them the whole body. Each of four control bytes is a
    /// step: up to 63 bytes as they are, above that in units of 64.
    var counts: [Int] {
        let steps = control.prefix(4).map { $0 < 64 ? max(1, Int($0)) : (Int($0) - 63) * 64 }
        var counts: [Int] = []
        var count = 0
        for turn in 0..<40 {
            count += steps[turn % steps.count]
            guard count < body.count else { break }
            counts.append(count)
        }
        return counts + [body.count]
    }

    /// Returns a prefix in memory of exactly its size, so that the sanitizer detects reads past its end; `nil` without
    /// memory.
    func beginning(_ count: Int) -> Bytes? { Bytes(copying: UnsafeRawBufferPointer(rebasing: body[..<count])) }
}

/// Ends the process, so that libFuzzer keeps the input as a finding.
func finding(_ text: String) -> Never { fatalError(text) }

/// The return values for libFuzzer: keep the input if it is new, or never keep it.
enum Verdict {
    static let interesting: Int32 = 0
    static let rejected: Int32 = -1
}
