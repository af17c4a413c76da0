import SDDBase
import SDDCoders
import TestSupport
import Testing

@testable import SDDEngine

/// Lists through a prefetcher, with a loader that the test controls and a downloader that delivers where the test asks.
@Suite struct PrefetcherTests {
    private let transport = FakeTransport()
    private let loader = FakePrefetchLoader()

    private func withPrefetcher(_ body: (Prefetcher, Downloader) throws -> Void) throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        try body(Prefetcher(delivering: downloader), downloader)
        downloader.destroy()
    }

    private func list(_ names: [String], _ loads: (any PrefetchLoading)? = nil) -> PrefetchList {
        let urls = names.map { name -> Result<ImageURL, DownloadError> in
            guard let url = try? Sample.url("http://host/\(name)") else {
                return .failure(DownloadError(.invalidURL, .urlMalformed, "no"))
            }
            return .success(url)
        }
        return PrefetchList(urls: urls, loads: loads ?? loader)
    }

    @Test("B30: URLs are loaded three at a time, and each is reported with the counts before the end")
    func urlsAreLoadedThreeAtATime() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            let token = try #require(prefetcher.submit(list(["a", "b", "c", "d"]), callbacks: callbacks))
            #expect(loader.running == ["a", "b", "c"])
            loader.end("b", .timeout)
            #expect(loader.running == ["a", "c", "d"])
            for name in ["a", "d", "c"] { loader.end(name) }
            #expect(callbacks.told.isEmpty)
            #expect(try downloader.dispatch(max: 0) == 5)
            #expect(callbacks.told == ["1 failed 1/1/4", "0 2/1/4", "3 3/1/4", "2 4/1/4", "end 4/1/4", "released"])
            #expect(callbacks.tokens == [token])
        }
    }

    @Test("Z1: no event is delivered inside the submitting call, and an empty list ends too")
    func noListEventIsDeliveredInsideTheSubmittingCall() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            #expect(prefetcher.submit(list([]), callbacks: callbacks) != nil)
            #expect(callbacks.told.isEmpty && prefetcher.listCount == 0)
            let count = try downloader.dispatch(max: 0)
            #expect(count == 1)
            #expect(callbacks.told == ["end 0/0/0", "released"])
        }
    }

    @Test("an invalid URL fails alone")
    func anInvalidURLFailsAlone() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            _ = prefetcher.submit(list(["not a url", "b"]), callbacks: callbacks)
            #expect(loader.running == ["b"])
            loader.end("b")
            while try downloader.dispatch(max: 0) > 0 {}
            #expect(callbacks.told == ["0 failed 1/1/2", "1 2/1/2", "end 2/1/2", "released"])
            #expect(callbacks.reports.last?.outcomes.map(\.error?.code) == [.invalidURL, nil])
            #expect(callbacks.reports.last?.outcomes.map(\.error?.detail) == [.urlMalformed, nil])
        }
    }

    @Test("a loader that accepts no more loads ends the list, each URL with the reason")
    func aClosedLoaderEndsTheList() throws {
        try withPrefetcher { prefetcher, downloader in
            loader.isClosed = true
            let callbacks = PrefetchRecorder()
            _ = prefetcher.submit(list(["a", "b", "c", "d", "e"]), callbacks: callbacks)
            while try downloader.dispatch(max: 0) > 0 {}
            #expect(callbacks.told.suffix(2) == ["end 5/5/5", "released"])
            #expect(callbacks.reports.last?.outcomes.allSatisfy { $0.error?.detail == .closed } == true)
        }
    }

    @Test("many loads that end inside the call do not recurse", .timeLimit(.minutes(2)))
    func loadsThatEndInsideTheCallDoNotRecurse() throws {
        try withPrefetcher { prefetcher, downloader in
            loader.endsAtOnce = true
            let callbacks = PrefetchRecorder()
            _ = prefetcher.submit(list((0..<50_000).map { "\($0)" }), callbacks: callbacks)
            while try downloader.dispatch(max: 0) > 0 {}
            #expect(callbacks.told.suffix(2) == ["end 50000/0/50000", "released"])
        }
    }

    @Test("B30: cancel stops the loads, drops undelivered events, and ends the list once")
    func cancelDropsUndeliveredEvents() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            let token = try #require(prefetcher.submit(list(["a", "b", "c", "d"]), callbacks: callbacks))
            loader.end("a")
            #expect(prefetcher.cancel(token) != nil && prefetcher.cancel(token) == nil)
            #expect(loader.cancelled == ["b", "c", "d"])
            while try downloader.dispatch(max: 0) > 0 {}
            // The report counts a as loaded.
            #expect(callbacks.told == ["end 1/0/4 cancelled 3", "released"])
            for name in ["b", "c", "d"] { loader.end(name, .cancelled) }
            #expect(try downloader.dispatch(max: 0) == 0)
        }
    }

    @Test("B30 Z5: a list's priority applies to its running loads, and to those that begin later")
    func aNewPriority() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            let token = try #require(prefetcher.submit(list(["a", "b", "c", "d"]), callbacks: callbacks))
            #expect(prefetcher.information(on: token)?.priority == .veryLow)
            #expect(prefetcher.setPriority(.high, of: token))
            #expect(prefetcher.information(on: token)?.effectivePriority == .high)
            loader.end("a")
            let begun = ["a veryLow", "b veryLow", "c veryLow"]
            #expect(loader.priorities == begun + ["a high", "b high", "c high", "d high"])
            for name in ["b", "c", "d"] { loader.end(name) }
            #expect(!prefetcher.setPriority(.high, of: token) && prefetcher.information(on: token) == nil)
            while try downloader.dispatch(max: 0) > 0 {}
        }
    }

    @Test("a priority that is set while a load begins reaches it, but not one that has ended")
    func aPriorityThatIsSetWhileALoadBegins() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            let token = Monitor<UInt64>(0)
            let first = try #require(prefetcher.submit(list(["a", "b", "c", "d"]), callbacks: callbacks))
            token.withLock { $0 = first }
            loader.whenBegun { _ = prefetcher.setPriority(.low, of: token.withLock { $0 }) }
            loader.end("a")
            // d began as very low, and its token arrived after the change, which reached the others at once.
            #expect(loader.priorities.suffix(4).sorted() == ["b low", "c low", "d low", "d veryLow"])
            loader.whenBegun {}
            for name in ["b", "c", "d"] { loader.end(name) }
            while try downloader.dispatch(max: 0) > 0 {}
        }
    }

    @Test("B30: after a cancel inside a URL's callback only the end follows")
    func aCancelInsideACallback() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder { token in _ = prefetcher.cancel(token) }
            _ = prefetcher.submit(list(["a", "b", "c"]), callbacks: callbacks)
            for name in ["a", "b"] { loader.end(name) }
            while try downloader.dispatch(max: 0) > 0 {}
            // Nor does the progress of that URL.
            #expect(callbacks.told == ["0", "end 2/0/3 cancelled 1", "released"])
        }
    }

    @Test("B30: a URL's callback that dispatches: progress neither comes after the end nor goes back")
    func aDispatchInsideACallback() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder { _ in _ = try? downloader.dispatch(max: 1) }
            _ = prefetcher.submit(list(["a", "b", "c"]), callbacks: callbacks)
            for name in ["a", "b", "c"] { loader.end(name) }
            while try downloader.dispatch(max: 0) > 0 {}
            #expect(callbacks.told == ["0", "1", "2", "end 3/0/3", "released"])
        }
    }

    @Test("B30: a URL's callback that drains the end: no progress comes after it")
    func aDrainInsideACallback() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder { _ in _ = try? downloader.drain(max: 9) { _ in nil } }
            _ = prefetcher.submit(list(["a", "b"]), callbacks: callbacks)
            for name in ["a", "b"] { loader.end(name) }
            while try downloader.dispatch(max: 0) > 0 {}
            #expect(callbacks.told == ["0", "released"])
        }
    }

    @Test("Z2: an application that drains gets the same events, and its data is freed with the next call")
    func anApplicationThatDrainsGetsTheSameEvents() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            _ = prefetcher.submit(list(["a"]), callbacks: callbacks)
            loader.end("a")
            var kinds: [String] = []
            let count = try downloader.drain(max: 10) { event in
                if case .prefetch(_, let event) = event { kinds.append(event.isEnd ? "end" : "step") }
                return nil
            }
            #expect(count == 2 && kinds == ["step", "end"])
            #expect(callbacks.told.isEmpty)
            #expect(try downloader.drain(max: 10) { _ in nil } == 0)
            #expect(callbacks.told == ["released"])
        }
    }

    @Test("Z1: a downloader that is destroyed waits for the ends of lists, and delivers them")
    func destroyDeliversTheEndsOfLists() throws {
        let downloader = try transport.makeDownloader(isAppDriven: true)
        let prefetcher = Prefetcher(delivering: downloader)
        let loads = DownloadingLoader(downloader)
        let recorders = (0..<2).map { _ in PrefetchRecorder() }
        for callbacks in recorders { _ = prefetcher.submit(list(["a", "b", "c", "d"], loads), callbacks: callbacks) }
        downloader.destroy()
        for callbacks in recorders { #expect(callbacks.told.suffix(2) == ["end 4/4/4", "released"]) }
        #expect(prefetcher.submit(list(["a"]), callbacks: PrefetchRecorder()) == nil)
        #expect(prefetcher.listCount == 0)
    }

    @Test("closing cancels all lists, and the limit may change meanwhile")
    func closingCancelsAllLists() throws {
        try withPrefetcher { prefetcher, downloader in
            let recorders = (0..<2).map { _ in PrefetchRecorder() }
            for callbacks in recorders { _ = prefetcher.submit(list(["a", "b"]), callbacks: callbacks) }
            prefetcher.setLimit(4)
            #expect(loader.running.count == 4)
            prefetcher.close()
            #expect(loader.cancelled.count == 4)
            while try downloader.dispatch(max: 0) > 0 {}
            for callbacks in recorders { #expect(callbacks.told == ["end 0/0/2 cancelled 2", "released"]) }
        }
    }

    @Test("Z1: threads that end loads while others cancel: each list ends once, in order", .timeLimit(.minutes(2)))
    func threadsEndLoadsWhileOthersCancel() throws {
        let downloader = try transport.makeDownloader()
        let prefetcher = Prefetcher(delivering: downloader)
        let recorders = (0..<60).map { _ in PrefetchRecorder() }
        let names = (0..<20).map { "\($0)" }
        let tokens = recorders.map { prefetcher.submit(list(names), callbacks: $0) }
        let enders = try (0..<2).map { _ in
            try NativeThread(name: "ender") { [loader] in
                while prefetcher.listCount > 0 { loader.endOne() }
            }
        }
        for token in tokens.enumerated().compactMap({ $0.offset % 3 == 0 ? $0.element : nil }) {
            _ = prefetcher.cancel(token)
        }
        for thread in enders { thread.join() }
        downloader.destroy()
        for (number, callbacks) in recorders.enumerated() {
            #expect(callbacks.reports.count == 1 && callbacks.told.last == "released", "list \(number)")
            var told = callbacks.told.dropLast(2)
            // A cancel between the two calls about a URL drops its progress.
            if callbacks.reports.last?.isCancelled == true, told.last?.contains("/") == false { told.removeLast() }
            // Each step has the number of finished URLs: the steps come in order, and none is missing in the middle.
            #expect(told.map(\.finished) == Array(1..<(told.count + 1)), "list \(number)")
            if callbacks.reports.last?.isCancelled == false { #expect(told.count == 20) }
        }
    }
}

extension String {
    /// The first count: 1 of "2 1/0/3".
    fileprivate var finished: Int { Int(split(separator: " ").last?.split(separator: "/").first ?? "") ?? -1 }
}
