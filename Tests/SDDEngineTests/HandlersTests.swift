import SDDBase
import SDDCoders
import TestSupport
import Testing

@testable import SDDEngine

/// The handlers of one job, compared with an array that is searched from end to end.
@Suite struct HandlersTests {
    private typealias Handler = Job<NumberedListener>.Handler

    private func handler(_ token: UInt64, using random: inout SeededRandom) throws -> Handler {
        var request = try Sample.request("http://host/\(token)")
        request.priority = Priority.allCases.randomElement(using: &random) ?? .normal
        request.wantsPixels = Bool.random(using: &random)
        request.form = DecodeOptions(isLazy: Bool.random(using: &random))
        request.wantsProgress = Bool.random(using: &random)
        request.wantsPreviews = request.wantsPixels && Bool.random(using: &random)
        request.wantsFacts = Bool.random(using: &random)
        request.endsEarly = request.wantsPixels && Bool.random(using: &random)
        request.continuesInBackground = Bool.random(using: &random)
        return Handler(token: token, NumberedListener(token), request, maxAttempts: 1, since: 0)
    }

    @Test("the combined wishes agree with those of each handler", arguments: 1...20 as ClosedRange<UInt64>)
    func agreesWithAnArray(seed: UInt64) throws {
        // given
        var random = SeededRandom(seed: seed)
        let first = try handler(0, using: &random)
        var handlers = Handlers<NumberedListener>(first)
        var naive = [first]
        var places: [UInt64: Handlers<NumberedListener>.Place] = [:]
        places[0] = handlers.firstPlace
        for token in UInt64(1)...500 {
            // when
            let victim = naive.randomElement(using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                let new = try handler(token, using: &random)
                naive.append(new)
                places[token] = handlers.append(new)
            case 4, 5:
                guard let victim, let place = places.removeValue(forKey: victim.token) else { break }
                #expect(handlers[place]?.token == victim.token)
                #expect(handlers.remove(place)?.token == victim.token)
                naive.removeAll { $0.token == victim.token }
            case 6:
                guard let victim, let place = places[victim.token],
                    let index = naive.firstIndex(where: { $0.token == victim.token })
                else { break }
                let priority = Priority.allCases.randomElement(using: &random) ?? .normal
                handlers.setPriority(priority, at: place)
                naive[index].priority = priority
            default:
                let rest = UInt64.random(in: 0..<7, using: &random)
                handlers.removeAll { $0.token % 7 == rest }
                for gone in naive where gone.token % 7 == rest { places[gone.token] = nil }
                naive.removeAll { $0.token % 7 == rest }
            }
            // then
            expectSame(handlers, naive)
            #expect(places.allSatisfy { handlers[$1]?.token == $0 })
        }
        handlers.removeAll()
        expectSame(handlers, [])
    }

    private func expectSame(_ handlers: Handlers<NumberedListener>, _ naive: [Handler]) {
        #expect(handlers.map(\.token) == naive.map(\.token) && handlers.count == naive.count)
        #expect(handlers.isEmpty == naive.isEmpty)
        #expect(handlers.priority == naive.map(\.priority).max() ?? .veryLow)
        #expect(handlers.wantProgress == naive.contains { $0.wantsProgress })
        #expect(handlers.wantPreviews == naive.contains { $0.wantsPreviews })
        #expect(handlers.wantFacts == naive.contains { $0.wantsFacts })
        #expect(handlers.wantLibraryPixels == naive.contains { $0.wantsPixels && !$0.form.isLazy })
        #expect(handlers.continueInBackground == naive.contains { $0.continuesInBackground })
        #expect(handlers.anyEndsEarly == naive.contains { $0.endsEarly })
        #expect(handlers.allEndEarly == naive.allSatisfy { $0.endsEarly && $0.wantsPixels })
    }
}
