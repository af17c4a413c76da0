import Glibc
import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Z17: interrupted bodies that are resumed, over a real connection.
@Suite struct ResumeTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private let server: ScriptedServer
    private let transport: TransportUnderTest

    init() throws {
        server = try ScriptedServer()
        transport = try TransportUnderTest()
    }

    private func request(
        _ target: String, part: [UInt8], _ validator: Validator = .entityTag("\"v1\""), total: Int64? = nil,
        fields: [(String, String)] = [], method: String = "GET", headers: [(String, String)] = [], body: String? = nil
    ) throws -> HTTPRequest {
        var request = try HTTPRequest(to: server.url(target), method: method, headers: headers, body: body)
        let bytes = try #require(part.withUnsafeBytes { Bytes(copying: $0) })
        request.resume = ResumePoint(
            bytes: bytes, validator: validator, total: total, fields: ResponseFields(fields))
        return request
    }

    private func sent(_ target: String, _ size: Int) -> [UInt8] { ScriptedServer.body(of: target, size: size) }

    /// The Range fields of the requests, in order.
    private var ranges: [String?] { server.requests.map { $0.header("Range") } }

    // MARK: - Joining

    @Test(arguments: ["", "&framing=chunked", "&framing=close"])
    func asksForTheRestAndHandsOutTheWhole(framing: String) throws {
        // given
        let target = "/ranged?size=100000&type=image/png" + framing
        let whole = sent(target, 100_000)
        // when
        let id = transport.start(try request(target, part: Array(whole[..<30_000]), total: 100_000))
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(try end.bytes() == whole)
        #expect(server.requests.count == 1)
        let asked = server.requests[0]
        #expect(asked.header("Range") == "bytes=30000-")
        #expect(asked.header("If-Range") == "\"v1\"")
        #expect(asked.header("Accept-Encoding") == "identity")
        #expect(end.status == 200)
        #expect(end.response?.fields["Content-Range"] == nil)
        #expect(end.response?.fields["Content-Length"] == "100000")
        #expect(end.response?.fields["Transfer-Encoding"] == nil)
        #expect(end.response?.fields.mimeType == "image/png")
        #expect(end.metrics.bodyBytes >= 70_000 && end.metrics.bodyBytes < 71_000)
        #expect(end.metrics.resumedBytes == 30_000)
        #expect(end.metrics.handedOutBytes == 100_000)
        #expect(end.metrics.redirects == 0)
        let events = transport.events(of: id)
        #expect(events.first?.head?.summary == [200, 100_000])
        #expect(events.compactMap(\.received).last == 100_000)
        #expect(events.compactMap(\.received).allSatisfy { $0 >= 30_000 })
    }

    @Test func joinsByADate() throws {
        // given
        let target = "/ranged?size=5000&etag=&modified=Sun,%2006%20Nov%201994%2008:49:37%20GMT"
        let part = Array(sent(target, 5000)[..<1000])
        // when
        let end = try transport.run(request(target, part: part, .lastModified(Self.date)))
        // then
        #expect(try end.bytes() == sent(target, 5000))
        #expect(server.requests.map { $0.header("If-Range") } == [Self.date])
        #expect(end.metrics.resumedBytes == 1000)
    }

    @Test("Z17: with connections cut at random offsets each byte arrives correctly, and once")
    func resumesAfterCutsAtRandomOffsets() throws {
        var random = SeededRandom(seed: 2026)
        for round in 0..<40 {
            // given
            let size = Int.random(in: 1...300_000, using: &random)
            let times = Int.random(in: 1...6, using: &random)
            let cuts = Set((0..<times).map { _ in Int.random(in: 0..<size, using: &random) })
            let list = cuts.sorted().map(String.init).joined(separator: ",")
            let framing = Bool.random(using: &random) ? "" : "&framing=chunked"
            let target = "/ranged?size=\(size)&cuts=\(list)" + framing
            server.reset()
            // when: each attempt resumes from the bytes that the one before has shown
            var part: ResumePoint?
            var metrics: [TransferMetrics] = []
            var body: [UInt8]?
            while body == nil, metrics.count < 10 {
                (body, part) = try attempt(target, from: part, &metrics)
            }
            // then
            let comment = Comment("seed 2026, round \(round): \(target)")
            #expect(body == sent(target, size), comment)
            #expect(metrics.count <= cuts.count + 1, comment)
            #expect(server.requests.count == metrics.count, comment)
            let received = metrics.reduce(0) { $0 + $1.bodyBytes }
            // With chunked framing, the bytes of the framing are added.
            #expect(received >= size && received < size + 1000, comment)
        }
    }

    /// Runs one transfer.
    /// - Returns: The whole body, or the point to resume from.
    private func attempt(
        _ target: String, from part: ResumePoint?, _ metrics: inout [TransferMetrics]
    ) throws -> ([UInt8]?, ResumePoint?) {
        var request = try HTTPRequest(to: server.url(target))
        request.resume = part
        let id = TransferID(UInt64.random(in: 1000...UInt64.max))
        transport.give([.start(id, request, .normal), .show(id)])
        let end = try transport.waitForEnd(of: id)
        metrics.append(end.metrics)
        if case .success = end.result { return (try end.bytes(), nil) }
        let events = transport.events(of: id)
        let shown = events.compactMap(\.body).last
        #expect(Int64(shown?.count ?? 0) == end.metrics.handedOutBytes)
        guard let shown, let head = events.compactMap(\.head).first,
            let validator = head.response.resumeValidator
        else { return (nil, part) }
        let next = ResumePoint(
            bytes: shown, validator: validator, total: head.expectedBytes, fields: head.response.fields)
        return (nil, next)
    }

    @Test func showsThePartAtOnce() throws {
        // given: a rest of which one byte arrives
        let target = "/ranged?size=5000&cuts=1001"
        let whole = sent(target, 5000)
        let id = TransferID(1000)
        // when
        transport.give([.start(id, try request(target, part: Array(whole[..<1000])), .normal), .show(id)])
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(try end.failure().kind == .truncatedBody)
        let events = transport.events(of: id)
        #expect(events.first?.head?.summary == [200, 5000])
        #expect(events.compactMap(\.body).last.map { Array($0.pointer) } == Array(whole[..<1001]))
        #expect(end.metrics.handedOutBytes == 1001)
        #expect(end.metrics.resumedBytes == 1000)
        #expect(end.status == 200)
    }

    @Test(arguments: ["&framing=chunked", "&framing=close"])
    func detectsARestThatEndsEarly(framing: String) throws {
        // given: 100 bytes fewer than the Content-Range says
        let target = "/ranged?size=4900&range=bytes%201000-4999/5000" + framing
        // when
        let end = try transport.run(request(target, part: Array(sent(target, 4900)[..<1000])))
        // then
        #expect(try end.failure().kind == .truncatedBody)
    }

    @Test(arguments: ["&framing=chunked", "&framing=close"])
    func refusesBytesBeyondTheRange(framing: String) throws {
        // given
        let target = "/ranged?size=5001&range=bytes%201000-4999/5000" + framing
        let id = TransferID(1000)
        // when
        transport.give([
            .start(id, try request(target, part: Array(sent(target, 5001)[..<1000])), .normal), .show(id),
        ])
        // then
        #expect(try transport.waitForEnd(of: id).failure().kind == .notHTTP)
        #expect(transport.events(of: id).compactMap(\.received).allSatisfy { $0 <= 5000 })
    }

    @Test func theBodyLimitAppliesToTheWhole() throws {
        // given
        var configuration = TransportConfiguration()
        configuration.maxBodyBytes = 5000
        let transport = try TransportUnderTest(configuration)
        for (size, isTaken) in [(5000, true), (5001, false)] {
            let target = "/ranged?size=\(size)"
            let part = Array(sent(target, size)[..<4000])
            // when
            let end = try transport.run(request(target, part: part))
            // then
            if isTaken {
                #expect(try end.bytes() == sent(target, size))
            } else {
                #expect(try end.failure().kind == .bodyTooLarge)
            }
        }
    }

    @Test func writesTheWholeToASink() throws {
        // given
        let target = "/ranged?size=5000"
        let folder = try TemporaryFolder()
        let path = folder.path + "/body"
        let descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var request = try request(target, part: Array(sent(target, 5000)[..<1234]))
        request.sink = try BodySink(descriptor: descriptor) { $0.status == 200 }
        // when
        let end = try transport.run(request)
        // then
        #expect(try end.bytes().isEmpty)
        #expect(readFile(path) == sent(target, 5000))
    }

    @Test func keepsStoredFieldsThatThe206Lacks() throws {
        // given: a 206 without a type, as it should be
        let target = "/ranged?size=5000&type=&part-header=Cache-Control:%20max-age=7"
        let part = Array(sent(target, 5000)[..<1000])
        // when
        let kept = [("Content-Type", "image/jpeg"), ("Cache-Control", "no-store")]
        let end = try transport.run(request(target, part: part, fields: kept))
        // then
        #expect(end.response?.fields["Cache-Control"] == "max-age=7")
        #expect(end.response?.fields.mimeType == "image/jpeg")
        #expect(end.response?.fields["ETag"] == "\"v1\"")
    }

    // MARK: - Starting over

    @Test(
        "RFC 9110 §15.3.7.3: asks for the whole body if the rest is of another one",
        arguments: [
            "refuse=416", "refuse=412", "range=bytes%201001-4999/5000", "range=bytes%20999-4999/5000",
            "range=bytes%201000-4999/6000", "range=", "range=items%201000-4999/5000", "end=4000", "part-etag=%22v2%22",
            "part-etag=W/%22v1%22", "part-header=Content-Encoding:%20identity", "type=multipart/byteranges",
            "range=bytes%201000-4998/4999", "range=bytes%201000-4998/4999&framing=chunked&end=4999",
        ])
    func startsOver(how: String) throws {
        // given: a part that must not appear in the body
        let target = "/ranged?size=5000&" + how
        let part = [UInt8](repeating: 7, count: 1000)
        let id = TransferID(1000)
        // when
        transport.give([.start(id, try request(target, part: part, total: 5000), .normal), .show(id)])
        let end = try transport.waitForEnd(of: id)
        // then
        #expect(try end.bytes() == sent(target, 5000))
        #expect(ranges == ["bytes=1000-", nil])
        #expect(server.requests.map { $0.header("If-Range") } == ["\"v1\"", nil])
        #expect(server.requests[1].header("Accept-Encoding") == "gzip")
        #expect(end.status == 200)
        #expect(end.metrics.resumedBytes == 0)
        #expect(end.metrics.redirects == 0)
        let events = transport.events(of: id)
        #expect(events.compactMap(\.head).map(\.response.status) == [200])
        #expect(events.compactMap(\.body).allSatisfy { sent(target, 5000).starts(with: $0.pointer) })
    }

    @Test func takesTheWholeBodyIfSentInPlaceOfTheRest() throws {
        // given: another version of the body
        let target = "/ranged?size=5000&etag=%22v2%22"
        // when
        let end = try transport.run(request(target, part: [UInt8](repeating: 7, count: 1000), total: 5000))
        // then
        #expect(try end.bytes() == sent(target, 5000))
        #expect(end.response?.fields["ETag"] == "\"v2\"")
        #expect(end.metrics.resumedBytes == 0)
        #expect(ranges == ["bytes=1000-"])
    }

    @Test func takesTheWholeBodyFromAServerWithoutRanges() throws {
        // when
        let end = try transport.run(request("/ok?size=5000", part: [UInt8](repeating: 7, count: 1000)))
        // then
        #expect(try end.bytes() == sent("/ok?size=5000", 5000))
    }

    @Test func startsOverIfThePartIsTooLong() throws {
        // given: the body has become shorter than the part
        let target = "/ranged?size=500"
        // when
        let end = try transport.run(request(target, part: [UInt8](repeating: 7, count: 1000)))
        // then
        #expect(try end.bytes() == sent(target, 500))
        #expect(ranges == ["bytes=1000-", nil])
    }

    @Test func startsOverOnlyOnce() throws {
        // when: every request is refused
        let end = try transport.run(request("/status/416?size=10", part: [1, 2, 3]))
        // then
        #expect(end.status == 416)
        #expect(ranges == ["bytes=3-", nil])
    }

    @Test func handsOutErrorsUnchanged() throws {
        // when
        let end = try transport.run(request("/status/404?size=10", part: [1, 2, 3]))
        // then
        #expect(end.status == 404)
        #expect(try end.bytes() == sent("/status/404?size=10", 10))
        #expect(ranges == ["bytes=3-"])
    }

    @Test func doesNotReadTheLongBodyOfARefusal() throws {
        // given
        let target = "/ranged?size=3000000&range=bytes%201-2/3"
        // when
        let end = try transport.run(request(target, part: [1, 2, 3]))
        // then: except for the bytes that had arrived with the header
        #expect(try end.bytes() == sent(target, 3_000_000))
        #expect(end.metrics.bodyBytes < 3_300_000)
    }

    // MARK: - Other requests

    @Test func asksForTheRestAfterARedirect() throws {
        // given
        let target = "/ranged?size=5000"
        let part = Array(sent(target, 5000)[..<1000])
        // when
        let end = try transport.run(request("/redirect?to=\(target)", part: part))
        // then
        #expect(try end.bytes() == sent(target, 5000))
        #expect(ranges == ["bytes=1000-", "bytes=1000-"])
        #expect(server.requests.map { $0.header("If-Range") } == ["\"v1\"", "\"v1\""])
        #expect(end.metrics.redirects == 1)
        #expect(end.metrics.resumedBytes == 1000)
    }

    @Test func keepsSecretsFromOtherOrigins() throws {
        // given
        let other = try ScriptedServer()
        let target = "/ranged?size=5000&refuse=412"
        // when
        let end = try transport.run(
            request(
                "/redirect?to=\(other.url(target).replacing("&", with: "%26"))", part: [7, 7],
                headers: [("Authorization", "Bearer secret")]))
        // then
        #expect(try end.bytes() == sent(target, 5000))
        #expect(other.requests.map { $0.header("Range") } == ["bytes=2-", nil])
        #expect(other.requests.map { $0.header("Authorization") } == [nil, nil])
        #expect(server.requests.map { $0.header("Authorization") } == ["Bearer secret"])
    }

    @Test(arguments: [
        ("Range", "bytes=1-2"), ("If-Range", "\"a\""), ("If-None-Match", "\"a\""), ("If-Match", "*"),
        ("If-Modified-Since", date), ("If-Unmodified-Since", date),
    ])
    func keepsConditionsOfTheRequest(name: String, value: String) throws {
        // when
        let end = try transport.run(request("/ok?size=50", part: [1, 2, 3], headers: [(name, value)]))
        // then
        #expect(try end.bytes() == sent("/ok?size=50", 50))
        #expect(ranges == [name == "Range" ? value : nil])
        #expect(server.requests[0].header(name) == value)
    }

    @Test func resumesOnlyAGET() throws {
        _ = try transport.run(request("/ok?size=50", part: [1, 2, 3], method: "HEAD"))
        _ = try transport.run(request("/ok?size=50", part: [1, 2, 3], method: "POST", body: "x"))
        _ = try transport.run(request("/ok?size=50", part: []))
        _ = try transport.run(request("/ok?size=50", part: [1, 2, 3], total: 3))
        #expect(ranges == [nil, nil, nil, nil])
    }

    @Test func doesNotAddARangeToTheNextRequest() throws {
        // given: one after another on the same handle
        let target = "/ranged?size=5000"
        let part = Array(sent(target, 5000)[..<1000])
        let plain = try HTTPRequest(to: server.url(target))
        // when
        for _ in 0..<3 {
            #expect(try transport.body(of: plain) == sent(target, 5000))
            #expect(try transport.run(request(target, part: part)).bytes() == sent(target, 5000))
        }
        // then
        #expect(ranges == [nil, "bytes=1000-", nil, "bytes=1000-", nil, "bytes=1000-"])
    }

    @Test func restoresTheRequestsCodingsWhenItStartsOver() throws {
        let headers = [("Accept-Encoding", "gzip;q=0.5")]
        _ = try transport.run(request("/ranged?size=50&refuse=416", part: [1], headers: headers))
        #expect(server.requests.map { $0.header("Accept-Encoding") } == ["identity", "gzip;q=0.5"])
    }
}
