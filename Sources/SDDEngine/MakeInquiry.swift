package import SDDBase
import SDDTransport

/// Has bytes made on a decode thread, as the end of a request that nothing is fetched for: encoding, say. Never the same as
/// another. Any thread.
package final class MakeInquiry: Inquiry {
    package var number: UInt64 { 0 }
    package func isSame(as other: any Inquiry) -> Bool { self === other }

    package func ask(_ question: Question, answer: @escaping @Sendable (Finding) -> Void) {
        // There is nothing yet; what is made of it is the body.
        answer(.found(Found(body: unsafe Bytes(adopting: nil, count: 0), origin: .network)))
    }

    /// A request that ends with what is made.
    /// - Parameter make: called once, on a decode thread, with no lock held; not if the request ends before.
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
