import SDDCoders

/// A form that many requests share: in each of many that wait it would take as much memory as all the rest. Immutable.
package final class SharedForm: Sendable {
    let form: DecodeOptions

    init(_ form: DecodeOptions) { self.form = form }

    package static let standard = SharedForm(DecodeOptions())
}
