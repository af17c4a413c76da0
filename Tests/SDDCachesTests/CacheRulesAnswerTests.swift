import SDDBase
import SDDCaches
import Testing

@Suite struct CacheRulesAnswerTests {
    @Test(
        arguments: [
            HTTPCacheCase.ages, HTTPCacheCase.lifetimes, HTTPCacheCase.heuristics, HTTPCacheCase.parsing,
            HTTPCacheCase.directives, HTTPCacheCase.validators, HTTPCacheCase.requests, HTTPCacheCase.offline,
            HTTPCacheCase.variants,
        ].joined())
    func answers(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

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
