import Glibc
import SDDCoders

/// The result of decoding: for each form a picture, or `nil` for an error.
struct Outcome {
    private let images: [(form: DecodeOptions, image: Image?)]

    init(_ forms: [DecodeOptions], _ decode: () throws(CoderError) -> PictureStream.Step) {
        guard let pictures = (try? decode())?.pictures else {
            images = forms.map { ($0, nil) }
            return
        }
        images = pictures.map { ($0.form, try? $0.image.get()) }
    }

    /// Returns the difference, or `nil` if there is none. All errors are equal, because the error of a cut or damaged
    /// picture may depend on how it was split.
    func difference(from other: Outcome) -> String? {
        guard images.count == other.images.count else { return "\(images.count) and \(other.images.count) forms" }
        for ((form, a), (_, b)) in zip(images, other.images) {
            if let difference = Self.difference(a, b) { return "\(form): \(difference)" }
        }
        return nil
    }

    private static func difference(_ a: Image?, _ b: Image?) -> String? {
        switch (a, b) {
        case (nil, nil): nil
        case (let a?, let b?):
            if a.facts != b.facts {
                "facts"
            } else if a.goodRows != b.goodRows {
                "rows"
            } else if let one = a.ready, let other = b.ready, one.isEqual(to: other) {
                nil
            } else {
                "pixels"
            }
        default: "a picture, and none"
        }
    }
}

extension PixelBuffer {
    func isEqual(to other: PixelBuffer) -> Bool {
        guard width == other.width, height == other.height, format == other.format else { return false }
        return (0..<height * format.planeCount).allSatisfy { y in
            memcmp(base + y * stride, other.base + y * other.stride, width * format.bytesPerPixel) == 0
        }
    }
}
