import TestSupport
import Testing

@testable import SDDBase

@Suite struct NumberMapTests {
    @Test func findsTheLatestValue() {
        // given
        var map = NumberMap<String>()
        #expect(map.isEmpty && map[0] == nil)
        // when
        map[0] = "zero"
        map[.max] = "most"
        map[0] = "nought"
        // then
        #expect(map[0] == "nought" && map[.max] == "most" && map[1] == nil)
        #expect(map.count == 2 && map.values.sorted() == ["most", "nought"])
    }

    @Test func removesValuesAndIgnoresMissingKeys() {
        // given
        var map = NumberMap<Int>()
        map[1] = 1
        // when
        map[2] = nil
        map[1] = nil
        map[1] = nil
        // then
        #expect(map.isEmpty && map[1] == nil && map.values.isEmpty)
    }

    @Test func aCopyIsAValueOfItsOwn() {
        // given
        var map = NumberMap<Int>()
        map[1] = 1
        let copy = map
        // when
        map[1] = nil
        map[2] = 2
        // then
        #expect(copy[1] == 1 && copy[2] == nil && copy.count == 1)
    }

    @Test func freesRemovedValues() {
        // given
        final class Held {}
        var map = NumberMap<Held>()
        weak var held: Held?
        do {
            let object = Held()
            held = object
            map[7] = object
        }
        #expect(held != nil)
        // when
        map[7] = nil
        // then
        #expect(held == nil)
    }

    @Test func objectsThatAreMovedLiveAsLongAsTheirKeys() {
        // given: an object that counts itself
        final class Counted {
            static nonisolated(unsafe) var living = 0
            let key: UInt64
            init(_ key: UInt64) { (self.key, Self.living) = (key, Self.living + 1) }
            deinit { Self.living -= 1 }
        }
        var random = SeededRandom(seed: 1)
        var map = NumberMap<Counted>()
        var keys: Set<UInt64> = []
        for step in 0..<20_000 {
            // when: the map grows first, and shrinks at last
            let key = UInt64.random(in: 0..<500, using: &random)
            if Int.random(in: 0..<20_000, using: &random) > step {
                map[key] = Counted(key)
                keys.insert(key)
            } else {
                map[key] = nil
                keys.remove(key)
            }
            // then
            #expect(Counted.living == keys.count && map.count == keys.count)
        }
        #expect(keys.allSatisfy { map[$0]?.key == $0 })
        map = NumberMap()
        #expect(Counted.living == 0)
    }

    @Test func holdsManyConsecutiveKeys() {
        // given
        var map = NumberMap<UInt64>()
        // when
        for key in 0..<100_000 as Range<UInt64> { map[key] = key }
        for key in stride(from: UInt64(0), to: 100_000, by: 2) { map[key] = nil }
        // then
        #expect(map.count == 50_000)
        #expect((0..<100_000 as Range<UInt64>).allSatisfy { map[$0] == ($0 % 2 == 0 ? nil : $0) })
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func behavesLikeADictionary(seed: UInt64) {
        // given: few keys, some close to one another, so that they are removed and set again
        var random = SeededRandom(seed: seed)
        var keys = Array(0..<20 as Range<UInt64>)
        keys += keys.map { $0 << 40 }
        for _ in 0..<20 { keys.append(random.next()) }
        var map = NumberMap<Int>()
        var model: [UInt64: Int] = [:]
        for step in 0..<2000 {
            // when
            let key = keys[Int.random(in: keys.indices, using: &random)]
            let isSet = Int.random(in: 0..<5, using: &random) < (step / 500 % 2 == 0 ? 3 : 1)
            let value = isSet ? step : nil
            map[key] = value
            model[key] = value
            // then
            #expect(map.count == model.count, "seed \(seed)")
            let other = keys[Int.random(in: keys.indices, using: &random)]
            #expect(map[other] == model[other], "seed \(seed), step \(step)")
        }
        #expect(keys.allSatisfy { map[$0] == model[$0] })
        #expect(map.values.sorted() == model.values.sorted())
    }
}
