internal import CCurl

/// A list of texts for libcurl, which reads it in place: it must stay alive for as long as libcurl uses it.
final class StringList: @unchecked Sendable {
    // Safety: written to only in `init`; libcurl only reads it.
    let first: UnsafeMutablePointer<curl_slist>?

    /// - Returns: `nil` if there is no memory.
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
