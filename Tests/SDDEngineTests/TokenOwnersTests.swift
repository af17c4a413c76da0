import SDDBase
import Testing

@testable import SDDEngine

/// Who is asked about a token, and that a number which is none reaches nobody. Downloaders of other tests are made and
/// asked meanwhile.
@Suite(.serialized) struct TokenOwnersTests {
    /// The name of the test's owner who knows the token.
    private func name(by token: UInt64) -> String? {
        TokenOwners.ask(of: token) { owner in
            owner.information(on: token) == nil ? nil : (owner as? FakeOwner)?.name
        }
    }

    @Test("a token is its owner's, however many there are")
    func aTokenIsItsOwners() {
        let owners = (0..<3 * TokenOwners.placeCount).map { FakeOwner("\($0)") }
        let tokens = (0..<3).map { _ in owners.map { $0.make() } }
        #expect(Set(tokens.joined()).count == 3 * owners.count)
        for (owner, number) in zip(owners, owners.indices) {
            for round in tokens { #expect(name(by: round[number]) == owner.name) }
            #expect(owner.asked.isSuperset(of: tokens.map { $0[number] }))
        }
        // Those at a place are asked for one another's, and the owners at other places never are.
        for owner in owners { #expect(owner.asked.allSatisfy { $0 & 0xff == owner.place }) }
        withExtendedLifetime(owners) {}
    }

    @Test("later tokens are larger, whoever gives them out")
    func laterTokensAreLarger() {
        let owners = (0..<5).map { FakeOwner("\($0)") }
        let tokens = (0..<1000).map { owners[$0 * 7 % 5].make() }
        #expect(tokens == tokens.sorted() && !tokens.contains(0))
        #expect(zip(tokens, tokens.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("what is done by a token is done by its owner, once")
    func whatIsDoneByAToken() {
        let owners = [FakeOwner("one"), FakeOwner("two")]
        let tokens = owners.map { $0.make() }
        func cancel(_ token: UInt64) -> Bool { TokenOwners.ask(of: token) { $0.cancel(token) } != nil }
        #expect(cancel(tokens[1]) && !cancel(tokens[1]))
        #expect(name(by: tokens[0]) == "one" && name(by: tokens[1]) == nil)
        #expect(cancel(tokens[0]) && !cancel(tokens[0]))
    }

    @Test("the tokens of an owner that has gone are nobody's, and it is kept alive by none of them")
    func anOwnerThatHasGone() throws {
        var owner: FakeOwner? = FakeOwner("gone")
        let token = try #require(owner?.make())
        weak let trace = owner
        #expect(name(by: token) == "gone")
        owner = nil
        #expect(trace == nil && name(by: token) == nil)
        // Others sit where it sat.
        let others = (0..<TokenOwners.placeCount).map { FakeOwner("\($0)") }
        #expect(name(by: token) == nil)
        #expect(others.map { name(by: $0.make()) } == others.map(\.name))
    }

    @Test("a number of another fork generation, of another place, or of a serial that was never given out is none")
    func forgedNumbers() {
        let owner = FakeOwner("real")
        let token = owner.make()
        #expect(name(by: token) == "real")
        for bit in 0..<64 as Range<UInt64> { #expect(name(by: token ^ 1 << bit) == nil, "bit \(bit)") }
        // No place has such a number.
        for place in UInt64(TokenOwners.placeCount)...255 { #expect(name(by: token & ~0xff | place) == nil) }
        for number in [0, 1, UInt64.max, 1 << 63, 0xffff, owner.seat.outside(0)] { #expect(name(by: number) == nil) }
        // Fakes know each of their own; a downloader of another test may be asked, and has no answer either.
        var random = SystemRandomNumberGenerator()
        for _ in 0..<10_000 { #expect(name(by: random.next()) == nil) }
    }

    @Test("a parent's owner is not asked for a child's token, though it sits at the same place")
    func anotherGeneration() {
        let owner = FakeOwner("parent")
        let token = owner.make()
        let later = token ^ 1 << 8
        owner.add(later)
        #expect(name(by: token) == "parent" && name(by: later) == nil && !owner.asked.contains(later))
    }

    @Test("the numbers of transfers are no tokens, and none is used twice in the process")
    func transfersAreNoTokens() {
        let owner = FakeOwner("real")
        let tokens = (0..<100).map { _ in owner.make() }
        let transfers = (0..<100).map { _ in owner.seat.outside(TokenSeat.makeSerial()) }
        #expect(Set(tokens + transfers).count == 200)
        for transfer in transfers { #expect(name(by: transfer) == nil) }
        #expect(transfers.map { owner.seat.outside(TokenOwners.inside($0)) } == transfers)
    }

    @Test("owners come and go while others are asked, on many threads")
    func ownersComeAndGo() throws {
        let stays = FakeOwner("stays")
        let token = stays.make()
        let threads = try (0..<8).map { number in
            try NativeThread(name: "owner") {
                for round in 0..<500 {
                    let owner = FakeOwner("\(number) \(round)")
                    let own = owner.make()
                    #expect(name(by: own) == owner.name && name(by: token) == "stays")
                    #expect(TokenOwners.ask(of: own) { $0.cancel(own) } != nil)
                    #expect(name(by: own) == nil)
                }
            }
        }
        for thread in threads { thread.join() }
    }
}

/// Gives out tokens, and knows them until they are cancelled.
private final class FakeOwner: TokenOwner {
    let name: String
    let seat = TokenSeat()
    private let state = Monitor<(known: Set<UInt64>, asked: Set<UInt64>)>(([], []))

    init(_ name: String) {
        self.name = name
        seat.join(self)
    }

    /// Tokens it was asked about.
    var asked: Set<UInt64> { state.withLock { $0.asked } }
    var place: UInt64 { seat.outside(0) & 0xff }

    func make() -> UInt64 {
        let token = seat.makeToken()
        add(token)
        return token
    }

    func add(_ token: UInt64) { state.withLock { _ = $0.known.insert(token) } }

    func cancel(_ token: UInt64) -> Cancelled? {
        state.withLock { $0.known.remove(token) }.map { _ in Cancelled() }
    }

    func setPriority(_ priority: Priority, of token: UInt64) -> Bool { state.withLock { $0.known.contains(token) } }

    func information(on token: UInt64) -> RequestInformation? {
        let isKnown = state.withLock { state in
            state.asked.insert(token)
            return state.known.contains(token)
        }
        return isKnown ? RequestInformation(listOf: .normal) : nil
    }
}
