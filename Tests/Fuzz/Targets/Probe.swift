import SDDBase
import SDDCoders

/// Probes a picture's first bytes: all of them, and each prefix.
@_cdecl("fuzz_probe")
public func fuzzProbe(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let input = FuzzInput(bytes, count) else { return Verdict.rejected }
    let whole = facts(input, input.body.count)
    for count in input.counts { check(facts(input, count), against: whole) }
    return Verdict.interesting
}

private typealias Answer = Result<ImageFacts, ImageFacts.Failure>

private func facts(_ input: FuzzInput, _ count: Int) -> Answer {
    guard let bytes = input.beginning(count) else { return .failure(.incomplete) }
    return Answer { () throws(ImageFacts.Failure) in try ImageFacts(of: bytes.pointer) }
}

/// Checks that the answer for a prefix stays true when more bytes arrive.
private func check(_ answer: Answer, against whole: Answer) {
    switch (answer, whole) {
    case (.failure(.incomplete), _): break
    case (.success(let facts), .success(let final)) where facts == final: break
    case (.failure(let failure), .failure(let final)) where failure == final: break
    default: finding("the probe says \(answer) of the beginning, and \(whole) of all of it")
    }
}
