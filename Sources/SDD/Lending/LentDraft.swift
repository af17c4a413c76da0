internal import SDDBase
internal import SDDEngine

extension Handle {
    static func draft(_ handle: OpaquePointer?) -> LentDraft? { object(handle) }
}

/// A request that is being built, lent to a request modifier. Used only on the submitting thread.
final class LentDraft {
    var draft: RequestDraft
    private let defaults: RequestDefaults
    /// Strings lent to the modifier.
    private var lent: [CText] = []

    init(_ draft: RequestDraft, _ defaults: RequestDefaults) {
        self.draft = draft
        self.defaults = defaults
    }

    func lend(_ text: String) -> UnsafePointer<CChar>? { lent.keep(text) }

    func setURL(_ text: UnsafePointer<CChar>?) throws(DownloadError) { draft.url = try defaults.url(text) }
}
