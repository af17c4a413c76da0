internal import CSDD
internal import SDDBase
internal import SDDCoders

/// More transforms than anybody needs: a count beyond is a mistake.
private let mostTransforms = 256

/// What a caller's array of sdd_transform means, each as large as the first one says.
func transformChain(_ list: UnsafePointer<sdd_transform>?, count: Int) throws(Refusal) -> TransformChain {
    if count == 0 { return TransformChain() }
    guard let list, (1...mostTransforms).contains(count) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    let first = UnsafeRawPointer(list)
    let size = first.loadUnaligned(as: Int.self)
    guard size >= MemoryLayout<Int>.size, size % MemoryLayout<sdd_transform>.alignment == 0 else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    var transforms: [PictureTransform] = []
    for index in 0..<count {
        var given = sdd_transform()
        // Safety: the caller promises `count` records of `size` bytes; `read` has refused sizes that cannot be
        // before the second is looked at.
        try read(first + index * size, size: size, into: &given)
        transforms.append(try transform(given))
    }
    return TransformChain(transforms)
}

private func transform(_ given: sdd_transform) throws(Refusal) -> PictureTransform {
    guard given.reserved == 0 else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    switch Int(given.kind) {
    case SDD_TRANSFORM_RESIZE: return .resize(try size(given))
    case SDD_TRANSFORM_CROP where given.width > 0 && given.height > 0:
        return .crop(x: Int(given.x), y: Int(given.y), width: Int(given.width), height: Int(given.height))
    case SDD_TRANSFORM_FLIP where (1...PictureTransform.Flip.both.rawValue).contains(given.flip):
        return .flip(PictureTransform.Flip(rawValue: given.flip))
    case SDD_TRANSFORM_ROTATE:
        guard let turns = PictureTransform.QuarterTurns(rawValue: Int(given.degrees)) else { break }
        return .rotate(turns)
    case SDD_TRANSFORM_ROUND_CORNERS
    where given.radius >= 0 && (0...PictureTransform.Corners.all.rawValue).contains(given.corners):
        let corners: PictureTransform.Corners =
            given.corners == 0 ? .all : PictureTransform.Corners(rawValue: given.corners)
        return .roundCorners(radius: Int(given.radius), corners)
    case SDD_TRANSFORM_CALLBACK: return try custom(given)
    default: break
    }
    throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
}

private func size(_ given: sdd_transform) throws(Refusal) -> SizeRule {
    guard let fit = SizeRule.Fit(rawValue: given.fit), given.width >= 0, given.height >= 0,
        given.width > 0 || given.height > 0
    else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return SizeRule(
        width: Int(given.width), height: Int(given.height), fit: fit, allowsEnlarging: try flag(given.allow_enlarging))
}

private func custom(_ given: sdd_transform) throws(Refusal) -> PictureTransform {
    guard let function = given.callback, let key = headerValue(given.key), !key.isEmpty else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    let data = HostPointer(given.user_data)
    return .custom(key: key) { pixels in
        // As an object of its own, since the host may keep it.
        let lent = Image(pixels: pixels, format: nil, bytes: nil)
        let made = withExtendedLifetime(lent) { Handle.borrowed(lent).flatMap { function($0, data.pointer) } }
        return try? Handle.takenOverImage(made)?.decoded()
    }
}
