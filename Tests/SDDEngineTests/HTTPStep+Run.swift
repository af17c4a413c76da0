import Glibc
import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// Runs a step of a sequence and checks it.
extension HTTPStep {
    private static let base = "/script/s"

    func run(_ index: Int, in world: HTTPCacheWorld, _ rule: String) throws {
        let comment = Comment(rawValue: rule)
        world.time.pass(seconds: passed)
        world.downloader.setOffline(isOffline)
        layDown(index, in: world)
        let (seen, stops) = (world.server.requests.count, world.stopCount)
        var request = try world.request(
            Self.base + path, asked.map { dated($0, world.start) }, method: method, wishes: wishes,
            options: TransferOptions(options))
        request.acceptance = accepts
        let result = try world.run(request)
        if isMeanwhile { #expect(world.waitForStops(stops + 1), comment) }
        #expect(world.flush(), comment)
        check(Array(world.server.requests[seen...]), in: world, comment)
        check(result, index, comment)
    }

    private func layDown(_ index: Int, in world: HTTPCacheWorld) {
        for (path, reply) in replies {
            var reply = reply
            reply.fields = reply.fields.map { dated($0, world.start) }
            if reply.body.isEmpty { reply.body = Array((sent ?? "body \(index)").utf8) }
            world.server.script("s" + path, reply)
        }
    }

    /// Checks the requests that the server received in this step.
    private func check(_ requests: [ServerRequest], in world: HTTPCacheWorld, _ comment: Comment) {
        #expect(requests.map { $0.path } == replies.map { Self.base + $0.path }, comment)
        let expected = conditions.map { dated($0, world.start) }.sorted()
        let names = ["If-None-Match", "If-Modified-Since"]
        // The request's own fields are not added by the cache.
        let own = asked.filter { field in names.contains { field.hasPrefix($0) } }
        // A second attempt is sent without conditions.
        let first = requests.firstIndex { $0.path == Self.base + (conditionsPath ?? path) } ?? 0
        for (index, request) in requests.enumerated() {
            let sent = names.compactMap { name in request.header(name).map { "\(name): \($0)" } }
            #expect(sent.sorted() == ((index == first ? expected : []) + own).sorted(), comment)
        }
    }

    private func check(_ result: DownloadResult, _ index: Int, _ comment: Comment) {
        #expect(result.error?.code == error, comment)
        guard error == nil, result.error == nil else { return }
        #expect(result.origin == origin, comment)
        #expect(result.httpStatus == status, comment)
        let hasBody = method != "HEAD" && status != 204
        #expect(result.text == (hasBody ? text ?? "body \(bodyOf ?? index)" : ""), comment)
        for field in shown {
            let parts = field.split(separator: ":", maxSplits: 1)
            let value = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : nil
            #expect(result.response?.fields[String(parts[0])] == value, comment)
        }
    }
}

// MARK: - Dates

/// Replaces the dates in braces in a field.
private func dated(_ field: String, _ start: Int64) -> String {
    let parts = field.split(separator: "{", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let end = parts[1].firstIndex(of: "}") else { return field }
    guard let shift = Int64(parts[1][..<end]) else { return field }
    return String(parts[0]) + text(of: start + shift) + dated(String(parts[1][end...].dropFirst()), start)
}

/// Formats a time as RFC 9110 §5.6.7 has it, with the system's own calendar.
private func text(of seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    var buffer = [CChar](repeating: 0, count: 64)
    // The process's locale is C: no test sets another.
    strftime(&buffer, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
}
