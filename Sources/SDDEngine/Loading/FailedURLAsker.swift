package import SDDBase
import SDDCoders
package import SDDTransport

/// The parts of a load's request that its failure may depend on; see `FailedURLs`. A value type.
package struct FailedURLAsker: Sendable {
    /// The options for decoding the body.
    struct Reading: Hashable, Sendable {
        let isLenient: Bool
        let formatHint: ImageFormat?
        let bodyWork: BodyWork?
    }

    /// The request's own limits, which replace those of its downloader.
    struct Limits: Hashable, Sendable {
        var bodyBytes: Int64 = 0
        var redirects: Int32 = 0
    }

    package let caller: RequestIdentity
    package let headers: HTTPFields
    let acceptance: Acceptance
    let reading: Reading
    let limits: Limits

    /// An anonymous caller with default settings.
    package static let standard = FailedURLAsker(
        caller: .nobody, headers: HTTPFields(), acceptance: .standard,
        reading: Reading(isLenient: DecodeOptions().isLenient, formatHint: nil, bodyWork: nil), limits: Limits())
}

extension FailedURLAsker {
    init(_ request: DownloadRequest) {
        let form = request.form
        let values = request.transfer.options.values
        self.init(
            caller: RequestIdentity(of: request.transfer), headers: request.transfer.headers,
            acceptance: request.acceptance,
            reading: Reading(
                isLenient: form.isLenient, formatHint: form.formatHint, bodyWork: request.bodyWork),
            limits: Limits(bodyBytes: values.maxBodyBytes, redirects: values.maxRedirects))
    }
}
