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

    package let caller: Caller
    package let headers: HTTPFields
    let acceptance: Acceptance
    let reading: Reading

    /// Nobody in particular, who wants nothing in particular.
    package static let standard = FailedURLAsker(
        caller: .nobody, headers: HTTPFields(), acceptance: .standard,
        reading: Reading(isLenient: PixelForm().isLenient, formatHint: nil, bodyWork: nil))

    private init(caller: Caller, headers: HTTPFields, acceptance: Acceptance, reading: Reading) {
        self.caller = caller
        self.headers = headers
        self.acceptance = acceptance
        self.reading = reading
    }

    init(_ request: DownloadRequest) {
        let form = request.form
        self.init(
            caller: Caller(of: request.transfer), headers: request.transfer.headers, acceptance: request.acceptance,
            reading: Reading(
                isLenient: form.isLenient, formatHint: form.formatHint, bodyWork: request.bodyWork))
    }
}
