import SDDBase
import SDDCoders
import SDDTransport
import Testing

@testable import SDDEngine

/// Responses, which each request accepts or refuses for itself.
@Suite struct ResponseTests {
    private let driver: Driver

    init() throws { driver = try Driver() }

    @Test(
        "X22 X24 G8: by default the statuses 200 to 299 are accepted; another ends the transfer at once, with 2001",
        arguments: [100, 199, 200, 204, 206, 299, 300, 301, 400, 404, 500, 503] as [Int32])
    func acceptsStatus200To299(_ status: Int32) throws {
        let token = try driver.submit(0)
        _ = driver.commands()
        driver.respond(1, status)
        let isRefused = !(200...299).contains(status)
        #expect(driver.error(of: token)?.code == (isRefused ? .invalidStatusCode : nil))
        #expect(driver.commands() == (isRefused ? [.cancel(1)] : []))
        guard isRefused else { return }
        #expect(driver.ended[token]?.stage == .response)
        #expect(driver.ended[token]?.httpStatus == status)
        #expect(driver.ended[token]?.response?.fields.mimeType == "image/png")
    }

    @Test(
        "G8 B20: a set of the request's own",
        arguments: [(404, true), (200, false), (503, true), (504, false)] as [(Int32, Bool)])
    func acceptsAStatusOfItsOwnSet(_ status: Int32, isAccepted: Bool) throws {
        let token = try driver.submit(0, pixels: false) {
            $0.acceptance = try Sample.acceptance(statuses: "404, 500-503")
        }
        driver.respond(1, status)
        driver.finish(1)
        #expect(driver.ended[token]?.error?.code == (isAccepted ? nil : .invalidStatusCode))
    }

    @Test("X22: a scheme without statuses is not judged by them")
    func acceptsResponsesWithoutAStatus() throws {
        let token = try driver.submit(0, pixels: false)
        driver.respond(1, 0)
        driver.finish(1)
        #expect(driver.ended[token]?.error == nil)
        #expect(driver.ended[token]?.httpStatus == 0)
    }

    @Test("X23: status 304 is 1002, whatever is accepted", arguments: [nil, "304", "*"] as [String?])
    func notModifiedHasItsOwnError(_ statuses: String?) throws {
        let token = try driver.submit(0) { $0.acceptance = try Sample.acceptance(statuses: statuses) }
        _ = driver.commands()
        driver.respond(1, 304)
        #expect(driver.error(of: token)?.code == .notModified)
        #expect(driver.ended[token]?.httpStatus == 304)
        #expect(driver.commands() == [.cancel(1)])
    }

    @Test(
        "G9 B20: the media type, if only some are accepted; others end with 2004",
        arguments: [
            ("image/png", "image/png", true), ("image/png,image/jpeg", "image/jpeg", true),
            ("image/*", "image/x", true),
            ("image/*", "text/html", false), ("image/png", "image/jpeg", false), ("image/png", "", false),
            ("*", "", true), (nil, "", true), (nil, "text/html", true), ("IMAGE/PNG", "image/png", true),
        ] as [(String?, String, Bool)])
    func acceptsAMediaType(_ types: String?, type: String, isAccepted: Bool) throws {
        let token = try driver.submit(0, pixels: false) { $0.acceptance = try Sample.acceptance(types: types) }
        _ = driver.commands()
        driver.respond(1, type: type)
        driver.finish(1)
        #expect(driver.ended[token]?.error?.code == (isAccepted ? nil : .invalidContentType))
        #expect(driver.commands() == (isAccepted ? [] : [.cancel(1)]))
    }

    @Test("G9: a type may have parameters and any case, which are ignored")
    func readsTheMediaTypeOfAField() throws {
        let token = try driver.submit(0, pixels: false) { $0.acceptance = try Sample.acceptance(types: "image/png") }
        driver.respond(1, type: "Image/PNG; charset=binary")
        driver.finish(1)
        #expect(driver.ended[token]?.bytes != nil)
    }

    @Test("B20 Z4: requests that share a transfer judge for themselves; it continues for those that accept")
    func eachRequestJudgesForItself() throws {
        let standard = try driver.submit(0)
        let tolerant = try driver.submit(0, pixels: false) { $0.acceptance = try Sample.acceptance(statuses: "*") }
        let strict = try driver.submit(0) { $0.acceptance = try Sample.acceptance(statuses: "*", types: "image/*") }
        _ = driver.commands()
        driver.respond(1, 404, type: "text/html")
        #expect(driver.error(of: standard)?.code == .invalidStatusCode)
        #expect(driver.error(of: strict)?.code == .invalidContentType)
        #expect(driver.ended[tolerant] == nil)
        #expect(driver.commands().isEmpty)
        driver.finish(1, size: 7)
        #expect(driver.ended[tolerant]?.bytes?.count == 7)
    }

    @Test("B20 X40: a request that joins after the response is judged at once")
    func aLateJoinerIsJudgedAtOnce() throws {
        try driver.submit(0) { $0.acceptance = try Sample.acceptance(statuses: "*") }
        driver.respond(1, 404)
        let late = try driver.submit(0)
        #expect(driver.error(of: late)?.code == .invalidStatusCode)
        driver.finish(1)
        let later = try driver.submit(0)
        #expect(driver.error(of: later)?.code == .invalidStatusCode)
    }

    @Test func aRefusedRequestThatLeavesLowersThePriority() throws {
        try driver.submit(0, priority: .veryHigh)
        try driver.submit(0, priority: .low) { $0.acceptance = try Sample.acceptance(statuses: "*") }
        _ = driver.commands()
        driver.respond(1, 500)
        #expect(driver.commands() == [.setPriority(1, .low)])
    }

    @Test("X35 X33: the response's error counts, whatever the transport reports afterwards")
    func theFirstErrorCounts() throws {
        let token = try driver.submit(0)
        driver.respond(1, 500)
        driver.fail(1, .truncatedBody)
        #expect(driver.endOrder == [token])
        #expect(driver.error(of: token)?.code == .invalidStatusCode)
    }

    @Test("X24: a refused transfer makes room for the next")
    func aRefusedTransferMakesRoom() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        for number in 0..<2 { try driver.submit(number) }
        driver.respond(1, 404)
        #expect(driver.commands() == [.start(1, .normal), .cancel(1), .start(2, .normal)])
    }

    @Test(
        "X36 X38: a body that is no picture is 1001, with a detail that says why",
        arguments: [
            (.empty, .imageEmpty), (.unknownFormat, .imageUnknownFormat), (.corrupt, .imageCorrupt),
            (.truncated, .imageTruncated), (.zeroPixels, .imageZeroPixels), (.tooManyPixels, .imageTooManyPixels),
            (.unsupported, .imageUnsupported), (.noMemory, .imageNoMemory), (.tooManyScans, .imageTooManyScans),
        ] as [(CoderError.Kind, DownloadError.Detail)])
    func aBodyThatCannotBeDecodedIsBadData(_ kind: CoderError.Kind, _ detail: DownloadError.Detail) throws {
        let token = try driver.submit(0)
        driver.answer(1)
        _ = driver.nextWork()
        driver.decoded(1, failure: kind)
        #expect(driver.error(of: token)?.code == .badImageData)
        #expect(driver.error(of: token)?.detail == detail)
        #expect(driver.ended[token]?.bytes == nil && driver.ended[token]?.stage == .decode)
    }

    @Test(
        "a failure has the stage at which it occurred",
        arguments: [
            (.resolve, .connect), (.connect, .connect), (.tlsHandshake, .connect), (.connectTimeout, .connect),
            (.addressRefused, .connect), (.firstByteTimeout, .response), (.connectionLost, .response),
        ] as [(TransportError.Kind, DownloadResult.Stage)])
    func aFailureHasItsStage(_ kind: TransportError.Kind, _ stage: DownloadResult.Stage) throws {
        let token = try driver.submit(0)
        driver.fail(1, kind)
        #expect(driver.ended[token]?.stage == stage)
        let second = try driver.submit(0)
        driver.respond(2)
        driver.fail(2)
        #expect(driver.ended[second]?.stage == .body)
    }
}
