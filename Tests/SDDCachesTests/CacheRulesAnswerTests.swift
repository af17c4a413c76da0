import SDDBase
import SDDCaches
import Testing

@Suite struct CacheRulesAnswerTests {
    @Test("how old it is", arguments: HTTPCacheCase.ages)
    func age(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("how old it may be", arguments: HTTPCacheCase.lifetimes)
    func lifetime(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("what is guessed", arguments: HTTPCacheCase.heuristics)
    func heuristic(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("how directives are read", arguments: HTTPCacheCase.parsing)
    func parsing(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("what servers say", arguments: HTTPCacheCase.directives)
    func directive(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("how a server is asked", arguments: HTTPCacheCase.validators)
    func validator(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("what callers say", arguments: HTTPCacheCase.requests)
    func request(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("without a network", arguments: HTTPCacheCase.offline)
    func offline(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("which variant", arguments: HTTPCacheCase.variants)
    func variant(_ test: HTTPCacheCase) { #expect(test.answer == test.gives) }

    @Test("9111 §4, §5.2.1.7, §4.2.4: nothing is stored")
    func nothingStored() {
        func answer(_ request: CacheableRequest) -> CacheAnswer {
            CacheRules.answer(to: request, stored: nil, now: 0)
        }
        #expect(answer(SDDCachesTests.request()) == .miss)
        #expect(answer(SDDCachesTests.request(["Cache-Control: only-if-cached"])) == .unavailable)
        #expect(answer(SDDCachesTests.request(isOffline: true)) == .unavailable)
        #expect(answer(SDDCachesTests.request(["Cache-Control: no-store"])) == .bypass)
    }

    @Test("9111 §4.3.1: a tag that is no UTF-8 cannot be sent, nor the time without it")
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
