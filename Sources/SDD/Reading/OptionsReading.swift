internal import CSDD
internal import SDDEngine

extension RequestOptions {
    /// Reads option bits for a call that returns the error itself.
    static func read(_ bits: UInt64, _ place: Place, for use: Use) throws(Refusal) -> RequestOptions {
        let options = RequestOptions(rawValue: bits)
        do throws(Flaw) {
            try options.check(for: use)
        } catch {
            switch error {
            case .unknown: throw Refusal(SDD_ERROR_UNSUPPORTED, place, error.words)
            case .meaningless, .eventless: throw Refusal(SDD_ERROR_INVALID_ARGUMENT, place, error.words)
            }
        }
        return options
    }
}
