import SDDBase
import TestSupport
import Testing

@testable import SDDEngine

@Suite struct RequestOptionsTests {
    @Test func eachBitHasTheNameAndTheValueOfTheHeader() throws {
        // given
        let path = Fixtures.directory + "/../../include/sdd/request.h"
        let header = String(decoding: try #require(readFile(path)), as: UTF8.self)
        // then
        for (bit, name) in RequestOptions.names.enumerated() { #expect(header.contains("    \(name) = 1 << \(bit)")) }
        #expect(!header.contains("= 1 << \(RequestOptions.names.count)"))
    }

    @Test(arguments: [
        (RequestOptions.handleCookies, "SDD_OPTION_HANDLE_COOKIES"),
        (.allowInvalidCertificates, "SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES"),
        (.continueInBackground, "SDD_OPTION_CONTINUE_IN_BACKGROUND"),
        (.resume, "SDD_OPTION_RESUME"),
        (.stopWhenComplete, "SDD_OPTION_STOP_WHEN_COMPLETE"),
        (.bodyAsSent, "SDD_OPTION_BODY_AS_SENT"),
        (.previewEvents, "SDD_OPTION_PREVIEW_EVENTS"),
        (.progressEvents, "SDD_OPTION_PROGRESS_EVENTS"),
        (.factsEvents, "SDD_OPTION_FACTS_EVENTS"),
        (.bytesOnly, "SDD_OPTION_BYTES_ONLY"),
        (.avoidDecodeImage, "SDD_OPTION_AVOID_DECODE_IMAGE"),
        (.decodeFirstFrameOnly, "SDD_OPTION_DECODE_FIRST_FRAME_ONLY"),
        (.preloadAllFrames, "SDD_OPTION_PRELOAD_ALL_FRAMES"),
        (.transformAnimatedImage, "SDD_OPTION_TRANSFORM_ANIMATED_IMAGE"),
        (.useHTTPCache, "SDD_OPTION_USE_HTTP_CACHE"),
        (.ignoreCachedResponse, "SDD_OPTION_IGNORE_CACHED_RESPONSE"),
        (.retryFailed, "SDD_OPTION_RETRY_FAILED"),
        (.refreshCached, "SDD_OPTION_REFRESH_CACHED"),
        (.fromCacheOnly, "SDD_OPTION_FROM_CACHE_ONLY"),
        (.fromLoaderOnly, "SDD_OPTION_FROM_LOADER_ONLY"),
        (.waitStoreCache, "SDD_OPTION_WAIT_STORE_CACHE"),
        (.queryMemoryData, "SDD_OPTION_QUERY_MEMORY_DATA"),
    ])
    func anOptionIsTheBitOfItsName(option: RequestOptions, name: String) {
        #expect("\(RequestOptions.names[option.rawValue.trailingZeroBitCount])" == name)
        #expect(option.rawValue.nonzeroBitCount == 1)
    }

    @Test(arguments: RequestOptions.Use.allCases)
    func aCallAcceptsWhatItKnowsAndNamesTheLowestOther(use: RequestOptions.Use) throws {
        try use.known.check(for: use)
        for (bit, name) in RequestOptions.names.enumerated() {
            let option = RequestOptions(rawValue: 1 << UInt64(bit))
            if use.known.contains(option) { continue }
            // when
            let flaw = Self.flaw(in: [option, use.known, RequestOptions(rawValue: 1 << 40)], for: use)
            // then
            #expect(flaw?.words.hasPrefix("\(name) means nothing to ") == true)
        }
    }

    @Test func eventsAreForWhoTakesThem() {
        for option in [RequestOptions.previewEvents, .progressEvents, .factsEvents] {
            #expect(throws: Never.self) { try option.check(for: .load, hasEvents: true) }
            #expect(throws: RequestOptions.Flaw.self) { try option.check(for: .load, hasEvents: false) }
        }
        #expect(throws: Never.self) { try RequestOptions.resume.check(for: .load, hasEvents: false) }
    }

    @Test func aBitThatThisVersionDoesNotKnowIsRefused() {
        #expect(
            Self.flaw(in: RequestOptions(rawValue: 1 << 40), for: .load)?.words
                == "bit 40 is none that this version of libsdd knows")
    }

    /// The letters of the table in the header: D, L, P, B and Q.
    @Test(arguments: [
        (RequestOptions.handleCookies, "DLPB"), (.previewEvents, "DL"), (.bytesOnly, "DLB"),
        (.avoidDecodeImage, "DLPBQ"), (.transformAnimatedImage, "LPB"), (.ignoreCachedResponse, "DB"),
        (.retryFailed, "LPB"), (.queryMemoryData, "L"), (.bodyAsSent, "DLPB"),
    ])
    func anOptionIsForTheCallsOfItsLetters(option: RequestOptions, letters: String) {
        let uses: [(Character, [RequestOptions.Use])] = [
            ("D", [.download]), ("L", [.load]), ("P", [.prefetch]), ("B", [.batch, .loadedBatch]), ("Q", [.query]),
        ]
        for (letter, uses) in uses {
            let isKnown = uses.contains { $0.known.contains(option) }
            #expect(isKnown == letters.contains(letter))
        }
    }

    private static func flaw(in options: RequestOptions, for use: RequestOptions.Use) -> RequestOptions.Flaw? {
        do throws(RequestOptions.Flaw) {
            try options.check(for: use)
            return nil
        } catch {
            return error
        }
    }
}
