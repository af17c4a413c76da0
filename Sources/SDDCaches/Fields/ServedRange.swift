/// The part of a body that is served in a 206. A value type.
package struct ServedRange: Equatable, Sendable {
    package let bounds: Range<Int64>
    /// The size of the whole body; nil if it is not known.
    package let total: Int64?

    package init(bounds: Range<Int64>, total: Int64?) {
        self.bounds = bounds
        self.total = total
    }

    /// The Content-Range field (RFC 9110 §14.4).
    var contentRange: String {
        "bytes \(bounds.lowerBound)-\(bounds.upperBound - 1)/" + (total.map(String.init) ?? "*")
    }
}
