import SDDBase
import SDDCaches
import Testing

@Suite struct CacheRulesAnswerTests {
    @Test("current age", arguments: HTTPCacheCase.ages)
    func age(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("freshness lifetime", arguments: HTTPCacheCase.lifetimes)
    func lifetime(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("heuristic lifetime", arguments: HTTPCacheCase.heuristics)
    func heuristic(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("parsing of directives", arguments: HTTPCacheCase.parsing)
    func parsing(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("directives of responses", arguments: HTTPCacheCase.directives)
    func directive(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("conditional requests", arguments: HTTPCacheCase.validators)
    func validator(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("directives of requests", arguments: HTTPCacheCase.requests)
    func request(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("offline", arguments: HTTPCacheCase.offline)
    func offline(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("variants", arguments: HTTPCacheCase.variants)
    func variant(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("9111 §4, §5.2.1.7, §4.2.4: no response is stored")
    func nothingStored() {
        func answer(_ request: CacheableRequest) -> CacheAnswer {
            CacheRules.answer(to: request, stored: nil, now: 0)
        }
        #expect(answer(SDDCachesTests.request()) == .miss)
        #expect(answer(SDDCachesTests.request(["Cache-Control: only-if-cached"])) == .unavailable)
        #expect(answer(SDDCachesTests.request(isOffline: true)) == .unavailable)
        #expect(answer(SDDCachesTests.request(["Cache-Control: no-store"])) == .bypass)
    }

    @Test("9111 §4.3.1: an entity tag that is not UTF-8 cannot be sent, nor the date without it")
    func tagOfOtherBytes() throws {
        // given
        var builder = ResponseFieldsBuilder()
        let isAdded = Array("ETag".utf8).withUnsafeBytes { name in
            ([0x22, 0xe9, 0x22] as [UInt8]).withUnsafeBytes { builder.append(name: name, value: $0) }
        }
        let isTimeAdded = builder.append("Last-Modified", Moment.hourBefore)
        #expect(isAdded && isTimeAdded)
        var stored = try #require(response([]))
        // when
        stored.fields = builder.take()
        // then
        #expect(CacheRules.conditions(of: stored) == HTTPFields())
    }
}
