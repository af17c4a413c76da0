internal import CCurl

/// Texts in libcurl's form, which it reads where they lie: whoever gives it the list keeps this alive.
final class StringList: @unchecked Sendable {
    // Safety: written to only in `init`; libcurl only reads it.
    let first: UnsafeMutablePointer<curl_slist>?

    /// - Returns: nil when there is no memory.
    init?(_ texts: some Sequence<String>) {
        var first: UnsafeMutablePointer<curl_slist>?
        for text in texts {
            guard let longer = curl_slist_append(first, text) else {
                curl_slist_free_all(first)
                return nil
            }
            first = longer
        }
        self.first = first
    }

    deinit { curl_slist_free_all(first) }
}
