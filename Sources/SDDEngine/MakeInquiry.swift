package import SDDBase
import SDDTransport

/// A lookup for a request that fetches nothing and has its bytes made on a decode thread, such as an encoding. Never
/// equal to another. Thread-safe.
package final class MakeInquiry: Inquiry {
    package var number: UInt64 { 0 }
    package func isSame(as other: any Inquiry) -> Bool { self === other }

    package func ask(_ question: Question, answer: @escaping @Sendable (Finding) -> Void) {
        // The body is empty at first; `BodyWork` makes the actual one.
        answer(.found(Found(body: unsafe Bytes(adopting: nil, count: 0), origin: .network)))
    }

    /// Makes a request whose body is the result of a function.
    /// - Parameter make: called once, on a decode thread, with no lock held; not called if the request ends before.
    package static func request(
        named name: String, making make: @escaping @Sendable () -> Result<Bytes, DownloadError>
    ) -> DownloadRequest {
        var request = DownloadRequest(transfer: HTTPRequest(url: ImageURL(key: name)))
        let inquiry = MakeInquiry()
        request.inquiry = inquiry
        request.bodyWork = BodyWork(making: make, identity: [UInt(bitPattern: ObjectIdentifier(inquiry))])
        request.wantsPixels = false
        return request
    }
}
