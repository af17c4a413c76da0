import SDDBase
import Testing

@testable import SDDEngine

/// Requests by token reach the owner of the token, and invalid numbers reach no owner. Downloaders of other tests are
/// created and asked meanwhile.
@Suite(.serialized) struct TokenOwnersTests {
    /// Returns the name of the test's owner that knows the token.
    private func name(by token: UInt64) -> String? {
        TokenOwners.ask(of: token) { owner in
            owner.information(on: token) == nil ? nil : (owner as? FakeOwner)?.name
        }
    }

    @Test("a token reaches its owner, however many there are")
    func aTokenReachesItsOwner() {
        let owners = (0..<3 * TokenOwners.placeCount).map { FakeOwner("\($0)") }
        let tokens = (0..<3).map { _ in owners.map { $0.make() } }
        #expect(Set(tokens.joined()).count == 3 * owners.count)
        for (owner, number) in zip(owners, owners.indices) {
            for round in tokens { #expect(name(by: round[number]) == owner.name) }
            #expect(owner.asked.isSuperset(of: tokens.map { $0[number] }))
        }
        // Owners at the same place are asked for one another's tokens, but never those at other places.
        for owner in owners { #expect(owner.asked.allSatisfy { $0 & 0xff == owner.place }) }
        withExtendedLifetime(owners) {}
    }

    @Test("later tokens are larger, whichever owner issues them")
    func laterTokensAreLarger() {
        let owners = (0..<5).map { FakeOwner("\($0)") }
        let tokens = (0..<1000).map { owners[$0 * 7 % 5].make() }
        #expect(tokens == tokens.sorted() && !tokens.contains(0))
        #expect(zip(tokens, tokens.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("an operation on a token is done by its owner, once")
    func anOperationIsDoneByTheOwnerOnce() {
        let owners = [FakeOwner("one"), FakeOwner("two")]
        let tokens = owners.map { $0.make() }
        func cancel(_ token: UInt64) -> Bool { TokenOwners.ask(of: token) { $0.cancel(token) } != nil }
        #expect(cancel(tokens[1]) && !cancel(tokens[1]))
        #expect(name(by: tokens[0]) == "one" && name(by: tokens[1]) == nil)
        #expect(cancel(tokens[0]) && !cancel(tokens[0]))
    }

    @Test("tokens of a freed owner are invalid, and do not keep it alive")
    func tokensOfAFreedOwnerAreInvalid() throws {
        var owner: FakeOwner? = FakeOwner("gone")
        let token = try #require(owner?.make())
        weak let trace = owner
        #expect(name(by: token) == "gone")
        owner = nil
        #expect(trace == nil && name(by: token) == nil)
        // Other owners take its place.
        let others = (0..<TokenOwners.placeCount).map { FakeOwner("\($0)") }
        #expect(name(by: token) == nil)
        #expect(others.map { name(by: $0.make()) } == others.map(\.name))
    }

    @Test("a number of another fork generation, of another place, or of an unused serial is no token")
    func forgedNumbersAreNoTokens() {
        let owner = FakeOwner("real")
        let token = owner.make()
        #expect(name(by: token) == "real")
        for bit in 0..<64 as Range<UInt64> { #expect(name(by: token ^ 1 << bit) == nil, "bit \(bit)") }
        // There are no places with these numbers.
        for place in UInt64(TokenOwners.placeCount)...255 { #expect(name(by: token & ~0xff | place) == nil) }
        for number in [0, 1, UInt64.max, 1 << 63, 0xffff, owner.seat.outside(0)] { #expect(name(by: number) == nil) }
        // Fake owners know only their own tokens; a downloader of another test may be asked, and has no answer either.
        var random = SystemRandomNumberGenerator()
        for _ in 0..<10_000 { #expect(name(by: random.next()) == nil) }
    }

    @Test("a parent's owner is not asked for a child's token, though it has the same place")
    func tokensOfAnotherForkGenerationAreNotAsked() {
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

/// Issues tokens, and knows them until they are cancelled.
private final class FakeOwner: TokenOwner {
    let name: String
    let seat = TokenSeat()
    private let state = Monitor<(known: Set<UInt64>, asked: Set<UInt64>)>(([], []))

    init(_ name: String) {
        self.name = name
        seat.join(self)
    }

    /// The tokens it was asked about.
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
