import TestSupport
import Testing

@testable import SDDCoders

@Suite struct AnimationCacheTests {
    /// The cost of one frame: 100,000 bytes of pixels and 16,384 for the entry.
    private static let cost = 116_384

    private func frame(_ index: Int, covers: Bool = false) throws -> ComposedFrame {
        let canvas = try #require(PixelBuffer(width: 250, height: 100))
        let covered = covers ? try #require(PixelBuffer(width: 250, height: 50)) : nil
        return ComposedFrame(index: index, canvas: canvas, covered: covered)
    }

    @Test func keepsTheMostRecentlyUsed() throws {
        // given
        var cache = AnimationCache(limit: 3 * Self.cost)
        for index in 0..<3 { cache.insert(try frame(index)) }
        // when
        #expect(cache.nearest(to: 0)?.index == 0)
        cache.insert(try frame(3))
        // then
        #expect(cache.indices == [2, 0, 3])
        #expect(cache.byteCount == 3 * Self.cost)
    }

    @Test func keepsTheLastFrameWhateverItCosts() throws {
        var cache = AnimationCache(limit: 0)
        for index in [4, 2, 9] { cache.insert(try frame(index)) }
        #expect(cache.indices == [9])
        #expect(cache.byteCount == Self.cost)
    }

    @Test func countsCoveredPixelsToo() throws {
        var cache = AnimationCache(limit: 2 * Self.cost)
        cache.insert(try frame(0, covers: true))
        #expect(cache.byteCount == Self.cost + 50_000)
        cache.insert(try frame(1))
        #expect(cache.indices == [1])
    }

    @Test func findsTheNearestFrameBefore() throws {
        var cache = AnimationCache(limit: 10 * Self.cost)
        #expect(cache.nearest(to: 5) == nil)
        for index in [7, 2, 4] { cache.insert(try frame(index)) }
        #expect(cache.nearest(to: 1) == nil)
        #expect(cache.nearest(to: 3)?.index == 2)
        #expect(cache.nearest(to: 6)?.index == 4)
        #expect(cache.nearest(to: 7)?.index == 7)
    }

    @Test func hasAFrameOnce() throws {
        var cache = AnimationCache(limit: 10 * Self.cost)
        for index in [1, 2, 1] { cache.insert(try frame(index)) }
        #expect(cache.indices == [2, 1])
        #expect(cache.byteCount == 2 * Self.cost)
    }

    @Test func exceedsItsLimitByAtMostOneFrame() throws {
        var random = SeededRandom(seed: 3)
        var cache = AnimationCache(limit: 4 * Self.cost)
        for _ in 0..<500 {
            let index = Int.random(in: 0..<20, using: &random)
            if Bool.random(using: &random) { _ = cache.nearest(to: index) }
            cache.insert(try frame(index, covers: Bool.random(using: &random)))
            #expect(cache.byteCount <= 4 * Self.cost || cache.indices.count == 1)
            #expect(cache.indices.last == index)
        }
    }
}
