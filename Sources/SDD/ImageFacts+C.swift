public import CSDD
internal import SDDBase
internal import SDDCoders

@_cdecl("sdd_image_probe") @implementation
public func sdd_image_probe(
    _ bytes: UnsafeRawPointer?, _ size: Int, _ facts: UnsafeMutablePointer<sdd_image_facts>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard size >= 0, bytes != nil || size == 0 else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        // None, so that on an error nothing of a call before is left.
        try fill(facts, with: sdd_image_facts())
        // Safety: the header of the library promises `size` readable bytes.
        try fill(facts, with: made(try read(UnsafeRawBufferPointer(start: bytes, count: size))))
    }
}

private func read(_ bytes: UnsafeRawBufferPointer) throws(Refusal) -> ImageFacts {
    do throws(ImageFacts.Failure) {
        return try ImageFacts(of: bytes)
    } catch {
        throw Refusal(error == .incomplete ? SDD_ERROR_INCOMPLETE : SDD_ERROR_BAD_IMAGE_DATA)
    }
}

private func made(_ facts: ImageFacts) -> sdd_image_facts {
    var made = sdd_image_facts()
    made.format = facts.format.rawValue
    made.width = Int32(clamping: facts.width)
    made.height = Int32(clamping: facts.height)
    made.channels = Int32(clamping: facts.channels)
    made.depth = Int32(clamping: facts.depth)
    made.is_progressive = facts.isProgressive ? 1 : 0
    made.is_animated = facts.frameCount > 1 ? 1 : 0
    made.frame_count = Int32(clamping: facts.frameCount)
    made.loop_count = Int32(clamping: facts.loopCount)
    made.orientation = Int32(clamping: facts.orientation)
    return made
}
