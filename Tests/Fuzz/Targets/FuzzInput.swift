import SDDBase

/// One input of the fuzzer: its first bytes say what is to be done with the rest.
struct FuzzInput {
    static let controlCount = 8

    let control: [UInt8]
    let body: UnsafeRawBufferPointer

    /// nil for one without a body.
    init?(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
        guard let bytes, count > Self.controlCount else { return nil }
        let all = UnsafeRawBufferPointer(start: bytes, count: count)
        control = Array(all.prefix(Self.controlCount))
        body = UnsafeRawBufferPointer(rebasing: all.dropFirst(Self.controlCount))
    }

    /// How much of the body there is each time, in growing order: at most 40 times, and all of it at last. Each of four
    /// bytes is a step: up to 63 as they are, above that in units of 64.
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

    /// The beginning, in memory of just its size, so that the sanitizer sees who reads on; nil without memory.
    func beginning(_ count: Int) -> Bytes? { Bytes(copying: UnsafeRawBufferPointer(rebasing: body[..<count])) }
}

/// libFuzzer keeps the input as a finding.
func finding(_ text: String) -> Never { fatalError(text) }

/// What libFuzzer is told of an input: kept if it is new, or never kept.
enum Verdict {
    static let interesting: Int32 = 0
    static let rejected: Int32 = -1
}
