import Testing

@testable import SDDTransport

@Suite struct AlternativeServicesTests {
    private static let second: Int64 = 1_000_000

    /// Returns the way to https://host:444 after its response had these Alt-Svc fields.
    private func way(_ values: String..., later: Int64 = 0) -> AlternativeServices.Way {
        var services = AlternativeServices()
        services.learn(1, values, host: "host", port: "444", at: 0)
        return services.way(to: 1, at: later)
    }

    @Test func readsOffers() {
        #expect(way("h3=\":444\"") == .trial)
        #expect(way("h2=\":444\"; ma=1, h3=\":444\"; ma=20; persist=1", later: 19 * Self.second) == .trial)
        #expect(way("h3=\"HOST:444\"") == .trial)
        #expect(way("h2=\":444\"", "h3=\":444\"") == .trial)
        #expect(way("h3 = \":444\" ; MA = \"20\"", later: 19 * Self.second) == .trial)
        // An offer without a lifetime is good for a day (RFC 7838 §3.1).
        #expect(way("h3=\":444\"", later: 86_399 * Self.second) == .trial)
        #expect(way("h3=\":444\"; ma=99999999999999999", later: 86_400 * Self.second) == .trial)
    }

    @Test func readsNoOffer() {
        #expect(way("") == .usual)
        #expect(way("clear") == .usual)
        #expect(way("h3=\":443\"") == .usual)
        #expect(way("h3=\"other:444\"") == .usual)
        #expect(way("h3-29=\":444\"") == .usual)
        #expect(way("h3=\":444\"; ma=0") == .usual)
        #expect(way("h3=\":444\"; ma=-1") == .usual)
        #expect(way("h3=\":444\"; ma=99999999999999999999999") == .usual)
        #expect(way("h3=\":444\"; ma=20", later: 20 * Self.second) == .usual)
        #expect(way("h3=\":444\"", later: 86_400 * Self.second) == .usual)
        #expect(way(",=;\"\\", "h3=\"") == .usual)
    }

    @Test func aLaterFieldReplacesTheOffer() {
        // given
        var services = AlternativeServices()
        services.learn(1, ["h3=\":444\""], host: "host", port: "444", at: 0)
        // when
        services.learn(1, ["clear"], host: "host", port: "444", at: 0)
        // then
        #expect(services.way(to: 1, at: 0) == .usual)
    }

    @Test func triesOnceAndKeepsWhatWorks() {
        // given
        var services = AlternativeServices()
        services.learn(1, ["h3=\":444\""], host: "host", port: "444", at: 0)
        #expect(services.way(to: 2, at: 0) == .usual)
        // when
        #expect(services.way(to: 1, at: 0) == .trial)
        // then: the others do not wait for the trial
        #expect(services.way(to: 1, at: 0) == .usual)
        services.ended(1, works: true, at: 0)
        #expect(services.way(to: 1, at: 0) == .http3)
        services.learn(1, ["h3=\":444\""], host: "host", port: "444", at: 0)
        #expect(services.way(to: 1, at: 0) == .http3)
    }

    @Test func triesAgainAfterAPause() {
        // given
        var services = AlternativeServices()
        services.learn(1, ["h3=\":444\""], host: "host", port: "444", at: 0)
        _ = services.way(to: 1, at: 0)
        services.ended(1, works: false, at: 10)
        // then
        #expect(services.way(to: 1, at: 9 + AlternativeServices.pause) == .usual)
        #expect(services.way(to: 1, at: 10 + AlternativeServices.pause) == .trial)
        // A trial that was cancelled reports no end.
        #expect(services.way(to: 1, at: 9 + 2 * AlternativeServices.pause) == .usual)
        #expect(services.way(to: 1, at: 10 + 2 * AlternativeServices.pause) == .trial)
    }

    @Test func remembersAFewOriginsOnly() {
        // given
        var services = AlternativeServices()
        let most = UInt64(AlternativeServices.mostOrigins)
        // when
        for origin in 0...most {
            services.learn(origin, ["h3=\":444\"; ma=\(1000 + origin)"], host: "host", port: "444", at: 0)
        }
        // then: the one that would have expired first is forgotten
        #expect(services.way(to: 0, at: 0) == .usual)
        #expect((1...most).allSatisfy { services.way(to: $0, at: 0) == .trial })
    }
}
