import SDDBase
package import SDDTransport

/// What the application says on how to transfer: one sdd_transfer_options, read and checked once, for one request or for
/// all of a list or batch. What it leaves open is left to the downloader's defaults. Immutable, shared by reference.
package final class TransferSpec: Sendable {
    package struct Values: Sendable {
        /// Header fields to set, in order; a `nil` value removes the downloader's field. Only the first field of a name
        /// replaces the downloader's; the others follow it.
        package var headers: [(name: String, value: String?)] = []
        package var credential = Choice.unsaid
        package var modifiers: (any RequestModifiers)?
        package var acceptance: Acceptance?
        /// Whether `acceptance` leaves the statuses, or the types, to the downloader.
        package var leavesStatuses = false
        package var leavesTypes = false
        package var redirects = RedirectRule.follow
        package var maxRedirects: Int32 = 0
        package var maxAttempts: Int32 = 0
        package var maxBodyBytes: Int64 = 0
        package var caFile: String?
        /// Milliseconds; `nil` leaves a limit to the downloader, and 0 means none.
        package var queueLimit: Int64?
        package var totalLimit: Int64?
        package var connectLimit: Int64?
        package var firstByteLimit: Int64?
        package var stallLimit: Int64?
        package var slownessLimit: Int64?
        package var leastBytesPerSecond: Int64?

        package init() {}
    }

    /// A choice of credentials.
    package enum Choice: Sendable {
        /// The downloader's are used.
        case unsaid
        case own(Credential?)
    }

    package let values: Values
    /// Whether the options of the transfer differ from the downloader's.
    let changesOptions: Bool

    package init(_ values: Values) {
        self.values = values
        var isOwn = false
        if case .own = values.credential { isOwn = true }
        changesOptions =
            isOwn || values.redirects != .follow || values.maxRedirects != 0 || values.maxBodyBytes != 0
            || values.caFile != nil || values.connectLimit != nil || values.firstByteLimit != nil
            || values.stallLimit != nil || values.slownessLimit != nil || values.leastBytesPerSecond != nil
    }

    /// Whether a request is not simply a GET of its URL with the downloader's header fields.
    var changesDraft: Bool { !values.headers.isEmpty || values.modifiers?.changesRequests == true }

    func addHeaders(to fields: inout HTTPFields) {
        var names: [String] = []
        for (name, value) in values.headers {
            if !names.contains(where: { HTTPFields.isSameName($0, name) }) {
                fields.set(name, to: value)
                names.append(name)
            } else if let value {
                fields.append(name, value)
            }
        }
    }

    /// - Parameter connectFollowsStall: whether a limit on stalling is also that on connecting, if there is no other.
    func apply(to options: inout TransferOptions.Values, connectFollowsStall: Bool) {
        if case .own(let credential) = values.credential { options.credential = credential }
        options.redirects = values.redirects
        options.maxRedirects = values.maxRedirects
        options.maxBodyBytes = values.maxBodyBytes
        if let file = values.caFile { options.caFile = file }
        let connectLimit = values.connectLimit ?? (connectFollowsStall ? values.stallLimit : nil)
        options.clocks.connect = connectLimit ?? options.clocks.connect
        options.clocks.firstByte = values.firstByteLimit ?? options.clocks.firstByte
        options.clocks.stall = values.stallLimit ?? options.clocks.stall
        options.clocks.slowness = values.slownessLimit ?? options.clocks.slowness
        options.clocks.leastBytesPerSecond = values.leastBytesPerSecond ?? options.clocks.leastBytesPerSecond
    }

    func acceptance(over standard: Acceptance) -> Acceptance {
        values.acceptance?.over(standard, leavesStatuses: values.leavesStatuses, leavesTypes: values.leavesTypes)
            ?? standard
    }
}
