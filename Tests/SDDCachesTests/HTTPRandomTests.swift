import SDDBase
import SDDCaches
import TestSupport
import Testing

/// Header fields assembled from pieces of real directives and garbage: nothing traps, encoding round-trips, and some
/// invariants hold in any case.
@Suite struct HTTPRandomTests {
    private static let pieces = [
        "max-age=", "max-stale", "min-fresh=", "no-cache", "no-store", "only-if-cached", "must-revalidate", "private",
        "public", "immutable", "must-understand", "stale-while-revalidate=", "stale-if-error=", "s-maxage=", "=", "\"",
        "\\", ",", ", ", " ", "\t", "0", "60", "2147483648", "99999999999999999999", "-1", "*", "Accept", "A", "W/",
        "é",
        Moment.hourBefore, Moment.hourAfter, "Sunday, 09-Sep-01 02:46:40 GMT", ";q=0.5", "\u{1}", ".", "x",
    ]
    private static let names = [
        "Cache-Control", "Cache-Control", "Age", "Date", "Expires", "ETag", "Last-Modified", "Vary", "Pragma",
        "Connection", "Set-Cookie", "Content-Length", "A", "Accept",
    ]
    private static let times: [Int64] = [
        .min, .max, 0, HTTPCacheCase.start, HTTPCacheCase.start - 100, HTTPCacheCase.start + 100, -1,
    ]

    private static func someLines(_ random: inout SeededRandom) -> [String] {
        (0..<Int.random(in: 0...5, using: &random)).map { _ in
            let value = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            return "\(names.randomElement(using: &random) ?? ""): \(value.joined())"
        }
    }

    private static func someTime(_ random: inout SeededRandom) -> Int64 {
        let time = times.randomElement(using: &random) ?? 0
        return time &+ Int64.random(in: -2...2, using: &random)
    }

    @Test("thousands of responses and requests", arguments: 0..<4 as Range<UInt64>)
    func responsesAndRequests(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for round in 0..<TestLength.count(2500, short: 700) {
            // given
            let fields = Self.someLines(&random)
            let ask = request(Self.someLines(&random))
            let made = CacheRules.makeStored(
                ask, status: 200, url: "http://a.test/", fields: responseFields(fields),
                requestTime: Self.someTime(&random),
                responseTime: Self.someTime(&random), family: .random(in: 0 ... .max, using: &random))
            guard let made else { continue }
            // when
            let bytes = made.encoded()
            let stored = try #require(bytes.withUnsafeBytes { StoredResponse(decoding: $0) })
            let now = Self.someTime(&random)
            let answer = CacheRules.answer(to: ask, stored: stored, now: now)
            let message: Comment = "seed \(seed), round \(round): \(fields), \(ask.headers.fields)"
            // then
            #expect(stored.encoded() == bytes, message)
            #expect(CacheRules.answer(to: ask, stored: made, now: now) == answer, message)
            #expect(CacheRules.selects(stored, ask), message)
            try checkPromises(answer, stored, ask, now: now, message)
            checkDamaged(bytes, &random)
            let freshened = CacheRules.freshened(
                stored, by: responseFields(Self.someLines(&random)), for: ask, requestTime: now, responseTime: now)
            if let freshened {
                #expect(CacheRules.selects(freshened, ask) || !CacheRules.mayBeKept(freshened), message)
            }
        }
    }

    private func checkPromises(
        _ answer: CacheAnswer, _ stored: StoredResponse, _ ask: CacheableRequest, now: Int64, _ message: Comment
    ) throws {
        let freshness = Freshness(of: stored, now: now)
        #expect(freshness.age >= 0 && freshness.lifetime >= 0, message)
        let served: Int64?
        switch answer {
        case .fresh(let age):
            #expect(age < freshness.lifetime, message)
            served = age
        case .stale(let age), .staleWhileRevalidate(let age):
            #expect(age >= freshness.lifetime && !stored.cacheControl.mustRevalidate, message)
            served = age
        case .validate, .miss, .unavailable, .bypass: served = nil
        }
        if let served {
            #expect(served == freshness.age && !stored.cacheControl.needsValidation, message)
            let fields = try #require(CacheRules.servedFields(stored, age: served))
            #expect(fields.values(of: "Age").count == 1, message)
        }
    }

    /// Changes one byte: decoding gives a response or nil, and does not trap.
    private func checkDamaged(_ bytes: [UInt8], _ random: inout SeededRandom) {
        var bytes = bytes
        guard let place = bytes.indices.randomElement(using: &random) else { return }
        bytes[place] = .random(in: 0...255, using: &random)
        guard let other = bytes.withUnsafeBytes({ StoredResponse(decoding: $0) }) else { return }
        #expect(other.encoded() == bytes)
        _ = CacheRules.answer(to: request(), stored: other, now: other.requestTime)
    }
}
