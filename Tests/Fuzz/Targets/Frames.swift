import SDDBase
import SDDCoders

/// Decodes the frames of an animation: they must be the same in any order and with a cache of only the last frame; a
/// prefix has as many frames as are complete, and never fewer when more bytes arrive.
@_cdecl("fuzz_frames")
public func fuzzFrames(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let input = FuzzInput(bytes, count), let body = input.beginning(input.body.count),
        ImageFormat(sniffing: body) == .png
    else { return Verdict.rejected }
    checkBeginnings(input)
    guard let kept = animation(body, cacheBytes: 1 << 20), let forgotten = animation(body, cacheBytes: 0) else {
        return Verdict.interesting
    }
    guard kept.frameCount == forgotten.frameCount else { finding("another number of frames") }
    let inOrder = Array(0..<min(kept.frameCount, 8))
    let frames = inOrder.map { try? kept.frame($0) }
    for step in input.control {
        let index = Int(step) % inOrder.count
        check(frames[index], try? forgotten.frame(index), index)
        check(frames[index], try? kept.frame(index), index)
        if kept.duration(of: index) < 0 { finding("a frame of negative time") }
    }
    if kept.loopCount < 0 { finding("a negative number of loops") }
    for index in [-1, kept.frameCount, .min, .max] where (try? kept.frame(index)) != nil {
        finding("frame \(index) of \(kept.frameCount)")
    }
    return Verdict.interesting
}

private func animation(_ body: Bytes, cacheBytes: Int) -> APNGAnimation? {
    var limits = FuzzChoices.limits
    limits.frameCacheBytes = cacheBytes
    guard let facts = try? ImageFacts(of: body.pointer), facts.width * facts.height <= limits.maxPixels else {
        return nil
    }
    return APNGAnimation(body, limits: limits)
}

private func check(_ a: PixelBuffer?, _ b: PixelBuffer?, _ index: Int) {
    switch (a, b) {
    case (nil, nil): break
    case (let a?, let b?) where a.isEqual(to: b): break
    default: finding("frame \(index) depends on the order")
    }
}

private func checkBeginnings(_ input: FuzzInput) {
    var least = 0
    for count in input.counts {
        guard let bytes = input.beginning(count) else { return }
        let complete = APNGAnimation.completeFrames(in: bytes)
        // 0 means that the bytes break the rules, and the picture is a still one.
        guard complete >= least || complete == 0 else { finding("\(least) frames were complete, now \(complete)") }
        least = complete
    }
}
