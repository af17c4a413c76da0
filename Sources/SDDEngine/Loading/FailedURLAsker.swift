package import SDDBase
import SDDCoders
package import SDDTransport

/// What of a load's request its failure may depend on: see `FailedURLs`. A value.
package struct FailedURLAsker: Sendable {
    /// How a picture is made of the body.
    struct Reading: Hashable, Sendable {
        let isLenient: Bool
        let formatHint: ImageFormat?
        let bodyWork: BodyWork?
    }

    /// What the request takes, in place of what its downloader does.
    struct Limits: Hashable, Sendable {
        var bodyBytes: Int64 = 0
        var redirects: Int32 = 0
    }

    package let caller: Caller
    package let headers: HTTPFields
    let acceptance: Acceptance
    let reading: Reading
    let limits: Limits

    /// Nobody in particular, who wants nothing in particular.
    package static let standard = FailedURLAsker(
        caller: .nobody, headers: HTTPFields(), acceptance: .standard,
        reading: Reading(isLenient: PixelForm().isLenient, formatHint: nil, bodyWork: nil), limits: Limits())

    private init(
        caller: Caller, headers: HTTPFields, acceptance: Acceptance, reading: Reading, limits: Limits
    ) {
        self.caller = caller
        self.headers = headers
        self.acceptance = acceptance
        self.reading = reading
        self.limits = limits
    }

    init(_ request: DownloadRequest) {
        let form = request.form
        let values = request.transfer.options.values
        self.init(
            caller: Caller(of: request.transfer), headers: request.transfer.headers, acceptance: request.acceptance,
            reading: Reading(
                isLenient: form.isLenient, formatHint: form.formatHint, bodyWork: request.bodyWork),
            limits: Limits(bodyBytes: values.maxBodyBytes, redirects: values.maxRedirects))
    }
}
