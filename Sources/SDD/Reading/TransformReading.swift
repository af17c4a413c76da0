internal import CSDD
internal import SDDBase
internal import SDDCoders

/// The largest number of transforms, far more than is useful; a larger count is a mistake.
private let mostTransforms = 256

/// Transforms of the application.
struct AppTransforms {
    let chain: TransformChain
    /// The data of the callbacks among them, which the chain keeps, too.
    let appData: [AppData]

    init(_ transforms: [PictureTransform] = [], appData: [AppData] = []) {
        chain = TransformChain(transforms)
        self.appData = appData
    }
}

/// Reads a caller's array of sdd_transform. The `struct_size` of the first element is the size of each.
func appTransforms(
    _ list: UnsafePointer<sdd_transform>?, _ place: Place, count: Int, _ countPlace: Place
) throws(Refusal) -> AppTransforms {
    if count == 0 { return AppTransforms() }
    guard let list else { throw .null(place) }
    guard (1...mostTransforms).contains(count) else {
        throw .number(countPlace, UInt(bitPattern: count), allowed: "0 to \(mostTransforms)")
    }
    var appData: [AppData] = []
    var transforms = [try transform(read(list, place), &appData)]
    let first = UnsafeRawPointer(list)
    let size = first.loadUnaligned(as: Int.self)
    for index in 1..<count {
        // Safety: the caller promises `count` records of `size` bytes; reading the first one has checked the size.
        transforms.append(try transform(read(first + index * size, size: size), &appData))
    }
    return AppTransforms(transforms, appData: appData)
}

private func transform(_ given: sdd_transform, _ appData: inout [AppData]) throws(Refusal) -> PictureTransform {
    switch Int(given.kind) {
    case SDD_TRANSFORM_RESIZE: return .resize(try size(given))
    case SDD_TRANSFORM_CROP:
        return .crop(
            x: Int(given.x), y: Int(given.y), width: try side(given.width, "sdd_transform.width"),
            height: try side(given.height, "sdd_transform.height"))
    case SDD_TRANSFORM_FLIP:
        guard (1...PictureTransform.Flip.both.rawValue).contains(given.flip) else {
            throw .number("sdd_transform.flip", given.flip, allowed: "one or more of SDD_FLIP_")
        }
        return .flip(PictureTransform.Flip(rawValue: given.flip))
    case SDD_TRANSFORM_ROTATE: return try rotation(given)
    case SDD_TRANSFORM_ROUND_CORNERS:
        return .roundCorners(radius: try length(given.radius, "sdd_transform.radius"), try corners(given))
    case SDD_TRANSFORM_BORDER:
        return .border(
            PictureTransform.Border(
                width: try length(given.border, "sdd_transform.border"), PictureTransform.Colour(argb: given.colour),
                radius: try length(given.radius, "sdd_transform.radius"), try corners(given)))
    case SDD_TRANSFORM_TINT: return .tint(PictureTransform.Colour(argb: given.colour))
    case SDD_TRANSFORM_BLUR: return .blur(try length(given.radius, "sdd_transform.radius"))
    case SDD_TRANSFORM_CALLBACK: return try custom(given, &appData)
    default: throw .number("sdd_transform.kind", given.kind, allowed: "one of SDD_TRANSFORM_")
    }
}

/// Reads the width or the height of a crop.
private func side(_ given: Int32, _ place: Place) throws(Refusal) -> Int {
    guard given > 0 else { throw .number(place, given, allowed: "at least 1, as a crop needs") }
    return Int(given)
}

private func length(_ given: Int32, _ place: Place) throws(Refusal) -> Int {
    guard given >= 0 else { throw .number(place, given, allowed: "at least 0") }
    return Int(given)
}

private func corners(_ given: sdd_transform) throws(Refusal) -> PictureTransform.Corners {
    guard (0...PictureTransform.Corners.all.rawValue).contains(given.corners) else {
        throw .number("sdd_transform.corners", given.corners, allowed: "0 or some of SDD_CORNER_")
    }
    return given.corners == 0 ? .all : PictureTransform.Corners(rawValue: given.corners)
}

private func rotation(_ given: sdd_transform) throws(Refusal) -> PictureTransform {
    guard given.degrees.isFinite else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "sdd_transform.degrees", "\(given.degrees) is no finite number")
    }
    let rotation = PictureTransform.Rotation(
        degrees: given.degrees, keepsSize: try flag(given.keep_size, "sdd_transform.keep_size"))
    return rotation.quarterTurns.map { .rotate($0) } ?? .turn(rotation)
}

private func size(_ given: sdd_transform) throws(Refusal) -> SizeRule {
    let fit = try fit(given.fit, "sdd_transform.fit", default: .inside)
    let width = try number(given.width, "sdd_transform.width", default: 0, most: .max)
    let height = try number(given.height, "sdd_transform.height", default: 0, most: .max)
    guard width > 0 || height > 0 else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_transform.width", "0 is allowed for one of width and height, not for both")
    }
    return SizeRule(
        width: Int(width), height: Int(height), fit: fit,
        allowsEnlarging: try flag(given.allow_enlarging, "sdd_transform.allow_enlarging"))
}

private func custom(_ given: sdd_transform, _ appData: inout [AppData]) throws(Refusal) -> PictureTransform {
    guard let function = given.callback else { throw .null("sdd_transform.callback") }
    guard let key = try text(given.key, "sdd_transform.key") else { throw .null("sdd_transform.key") }
    let data = AppData(given.user_data, free: given.user_data_free)
    appData.append(data)
    return .custom(key: key) { pixels in
        // The callback gets an object of its own, since the application may retain it.
        let lent = Image(pixels: pixels, format: nil, bytes: nil)
        let made = withExtendedLifetime(lent) { Handle.borrowed(lent).flatMap { function($0, data.pointer) } }
        return try? Handle.takenOverImage(made)?.decoded()
    }
}
