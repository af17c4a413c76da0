import Testing

@testable import SDDEngine

/// The failures that each policy remembers, and for how long.
@Suite struct FailurePolicyTests {
    private typealias Code = DownloadError.Code

    private let second: Int64 = 1_000_000

    private func wait(
        _ policy: FailurePolicy, _ code: Code, _ detail: DownloadError.Detail = .none, status: Int32 = 0,
        hasRetryAfter: Bool = false, decision: Bool? = nil
    ) -> FailurePolicy.Wait? {
        policy.wait(
            after: DownloadError(code, detail, ""), status: status, hasRetryAfter: hasRetryAfter, decision: decision)
    }

    /// Every error number of the header, and whether it is remembered: by backOff, by sdWebImage.
    private static let table: [(Int32, Bool, Bool)] = [
        (1000, true, true), (1001, true, true), (1002, false, false), (1003, false, false), (1004, false, false),
        (2000, false, false), (2001, true, false), (2002, false, false), (2003, false, false), (2004, false, false),
        (3000, false, true), (3001, false, false), (3002, false, false), (3003, false, true), (3004, false, false),
        (3005, false, false), (3006, true, true), (3007, true, true), (3008, true, true), (3009, false, false),
        (3010, true, true), (3011, true, true), (3012, false, true), (3013, false, true), (3014, true, true),
        (3015, false, false), (3016, false, true), (4001, false, false), (4009, false, false),
        (4012, false, false), (4013, false, false),
    ]

    @Test("F4 F7: each policy decides which failures are remembered")
    func eachPolicyDecidesWhatIsRemembered() throws {
        #expect(Set(Self.table.map(\.0)) == Set(Code.allCases.map(\.rawValue)))
        for (number, backsOff, isBlockedForEver) in Self.table {
            let code = try #require(Code(rawValue: number))
            #expect((wait(.backOff, code, status: 500) != nil) == backsOff, "\(number)")
            #expect((wait(.sdWebImage, code, status: 500) != nil) == isBlockedForEver, "\(number)")
            #expect(wait(.off, code, status: 500) == nil, "\(number)")
        }
    }

    @Test("F4: the SDWebImage policy remembers for ever, whatever the status")
    func theSDWebImagePolicyRemembersForEver() {
        #expect(wait(.sdWebImage, .badImageData)?.first == .max)
        for status: Int32 in [401, 404, 410, 500, 503] {
            #expect(wait(.sdWebImage, .invalidStatusCode, status: status) == nil)
        }
    }

    @Test("F7: waits are 1 s to 5 min, and 1 min to 1 h for a URL that is gone")
    func waitsAreShortAndLongForAURLThatIsGone() {
        for status: Int32 in [400, 403, 429, 500, 502, 503, 504] {
            let wait = wait(.backOff, .invalidStatusCode, status: status)
            #expect(wait?.first == second && wait?.longest == 300 * second, "\(status)")
        }
        for status: Int32 in [404, 410] {
            let wait = wait(.backOff, .invalidStatusCode, status: status)
            #expect(wait?.first == 60 * second && wait?.longest == 3600 * second, "\(status)")
        }
        #expect(wait(.backOff, .badImageData, .imageCorrupt)?.first == second)
    }

    @Test("F7: a status that concerns the request, and not the URL, is not remembered")
    func aStatusThatConcernsTheRequestIsNotRemembered() {
        for status: Int32 in [401, 407, 408, 412, 416, 417, 425] {
            #expect(wait(.backOff, .invalidStatusCode, status: status) == nil, "\(status)")
        }
    }

    @Test("F7: a Retry-After of the server is respected")
    func retryAfterIsRespected() {
        #expect(wait(.backOff, .invalidStatusCode, status: 408, hasRetryAfter: true)?.first == second)
        #expect(wait(.backOff, .invalidStatusCode, status: 401, hasRetryAfter: true) == nil)
    }

    @Test("F7: a picture that failed for lack of memory or a coder is not remembered")
    func aPictureThatFailedForLackOfResourcesIsNotRemembered() {
        for detail: DownloadError.Detail in [.imageNoMemory, .imageBufferTooSmall, .imageTransform] {
            #expect(wait(.backOff, .badImageData, detail) == nil)
            // Row F4 ignores the detail.
            #expect(wait(.sdWebImage, .badImageData, detail) != nil)
        }
        for detail: DownloadError.Detail in [.imageEmpty, .imageTruncated, .imageTooManyPixels] {
            #expect(wait(.backOff, .badImageData, detail) != nil)
        }
    }

    @Test("F7: a response that only this request refused is not remembered", arguments: FailurePolicy.allCases)
    func aResponseThatOnlyOneRequestRefusedIsNotRemembered(policy: FailurePolicy) {
        #expect(wait(policy, .invalidContentType, status: 200) == nil)
        #expect(wait(policy, .badImageData, .imageIntegrity, status: 200) == nil)
        for status: Int32 in [200, 204, 299] { #expect(wait(policy, .invalidStatusCode, status: status) == nil) }
        #expect((wait(policy, .invalidStatusCode, status: 300) != nil) == (policy == .backOff))
    }

    @Test("M23: the application's decision overrides each policy", arguments: FailurePolicy.allCases)
    func theApplicationsDecisionOverridesThePolicy(policy: FailurePolicy) {
        for code in Code.allCases {
            #expect(wait(policy, code, status: 404, decision: false) == nil)
            let given = wait(policy, code, status: 500, decision: true)
            #expect(given?.first == (policy == .sdWebImage ? .max : second))
        }
    }

    @Test("M23: an application that agrees does not change the wait")
    func anApplicationThatAgreesChangesNothing() {
        #expect(wait(.backOff, .invalidStatusCode, status: 404, decision: true)?.first == 60 * second)
    }
}
