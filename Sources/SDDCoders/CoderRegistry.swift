/// The formats that can be decoded. A value: change a copy, then make `DecoderSet`s from it.
package struct CoderRegistry: Sendable {
    /// What comes with the library: JPEG and PNG.
    package static let builtIn = CoderRegistry([JPEGCoder(), PNGCoder()])

    private var coders: [any ImageCoding]

    package init(_ coders: [any ImageCoding] = []) { self.coders = coders }

    /// From now on `coder` is asked before all others, so that it can replace one of the same format.
    package mutating func register(_ coder: any ImageCoding) { coders.append(coder) }

    package func coder(for format: ImageFormat) -> (any ImageCoding)? {
        coders.last { $0.format == format }
    }
}
