import Glibc
import SDDBase
import SDDCoders
import TestSupport
import Testing

/// The room that a coder's picture takes before it is decoded, and the limits between its frames.
@Suite struct AppEstimateTests {
    private let coders = AppCoderList()
    private let memory = Room()

    /// Grants what fits into `limit`, and records what was asked for.
    private final class Room: MemoryKeeping {
        let limit = Monitor(Int.max)
        let asked = Monitor<[Int]>([])

        func reserve(_ bytes: Int, isArriving: Bool) -> (any MemoryReserved)? {
            asked.withLock { $0.append(bytes) }
            return bytes <= limit.withLock { $0 } ? Reservation(bytes) : nil
        }
    }

    private final class Reservation: MemoryReserved {
        private let left: Monitor<Int>
        /// Called with what is left, whenever something is given back.
        private let gives: @Sendable (Int) -> Void

        init(_ bytes: Int, gives: @escaping @Sendable (Int) -> Void = { _ in }) {
            left = Monitor(bytes)
            self.gives = gives
        }

        var bytes: Int { left.withLock { $0 } }
        func shrink(to bytes: Int) {
            let less = left.withLock { left -> Int? in
                if bytes >= left { return nil }
                left = bytes
                return left
            }
            if let less { gives(less) }
        }
        func settle() {}
        func decoded(keeping bytes: Int) { shrink(to: bytes) }
    }

    private func read(
        _ array: [UInt8], limits: DecodeLimits = DecodeLimits(), granted: (any MemoryReserved)? = nil
    ) throws(CoderError) -> PictureStream.Step {
        let stream = PictureStream(
            limits: limits, registry: .builtIn.asking([coders]), memory: memory, granted: granted)
        return try stream.read(bytes(of: array), forms: [DecodeOptions()], isLast: true)
    }

    private static let pixel = 4
    private static let assumed = 16 << 20

    @Test func roomIsTakenBeforeThePictureIsDecoded() throws {
        // given: a coder whose pictures take 5,000 bytes
        let coder = ToyCoder(needs: .known(width: 1, height: 1, bytes: 5000))
        coders.add(coder)
        memory.limit.withLock { $0 = 5000 }
        // when: there is room for less than that and the result
        let step = try read([7, 1])
        // then: nothing was decoded
        #expect(step.lacksRoom == 5000 + Self.pixel)
        #expect(step.pictures == nil)
        #expect(coder.log.withLock { $0 } == ["open 0", "close"])
        // when: the body has waited for its room
        let made = try read([7, 1], granted: Reservation(5000 + Self.pixel))
        // then: it is decoded, once
        #expect(try made.pictures?.first?.image.get().pixels.plainBytes.count == Self.pixel)
        #expect(coder.log.withLock { $0 } == ["open 0", "close", "open 0", "frame 0", "close"])
        #expect(made.reserved?.bytes == Self.pixel)
        #expect(memory.asked.withLock { $0 } == [5000 + Self.pixel])
    }

    @Test func theDecoderIsClosedBeforeOthersGetItsRoom() throws {
        // given
        let coder = ToyCoder(needs: .known(width: 1, height: 1, bytes: 5000))
        coders.add(coder)
        let room = Reservation(5000 + Self.pixel) { left in coder.log.withLock { $0.append("room \(left)") } }
        // when
        let step = try read([7, 1], granted: room)
        // then
        #expect(step.isComplete)
        #expect(coder.log.withLock { $0 } == ["open 0", "frame 0", "close", "room \(Self.pixel)"])
    }

    @Test func theCostCountsForTheLimitOfAPicture() throws {
        let coder = ToyCoder(needs: .known(width: 1, height: 1, bytes: 5000))
        coders.add(coder)
        var limits = DecodeLimits()
        limits.maxBytes = 5000 + Self.pixel - 1
        #expect(throws: CoderError(.tooMuchMemory, "about 5004 bytes")) { try read([7, 1], limits: limits) }
        #expect(coder.log.withLock { $0 } == ["open 0", "close"])
        limits.maxBytes += 1
        #expect(try read([7, 1], limits: limits).isComplete)
    }

    @Test func theLimitHoldsForEachForm() throws {
        coders.add(ToyCoder(needs: .known(width: 1, height: 1, bytes: 5000)))
        let forms = [DecodeOptions(), DecodeOptions(size: SizeRule(width: 2, allowsEnlarging: true))]
        let read = { [coders] (limit: Int) throws(CoderError) in
            var limits = DecodeLimits()
            limits.maxBytes = limit
            let stream = PictureStream(limits: limits, registry: .builtIn.asking([coders]))
            return try stream.read(bytes(of: [7, 1]), forms: forms, isLast: true).pictures ?? []
        }
        #expect(try read(5000 + 5 * Self.pixel).map { try $0.image.get().pixels.width } == [1, 2])
        #expect(try read(5000 + 4 * Self.pixel).map { try $0.image.get().pixels.width } == [1])
        let made = try read(5000 + Self.pixel)
        #expect(try made.first { $0.form == forms[0] }?.image.get().pixels.width == 1)
        #expect(throws: CoderError(.tooMuchMemory, "about 5016 bytes")) {
            try made.first { $0.form == forms[1] }?.image.get()
        }
    }

    /// A quarter of what a coder takes is compared with the body.
    @Test func muchMemoryForASmallBodyIsRefused() throws {
        coders.add(ToyCoder(needs: .known(width: 1, height: 1, bytes: 513 << 20)))
        var limits = DecodeLimits()
        #expect(try read([7, 1], limits: limits).isComplete)
        limits.maxRatio = 512
        let error = #expect(throws: CoderError.self) { try read([7, 1], limits: limits) }
        #expect(error?.kind == .tooMuchForBody)
    }

    @Test func impossibleEstimatesAreFaultsOfTheCoder() {
        for needs in [
            AppEstimate.known(width: 0, height: 1, bytes: 1), .known(width: 1, height: -1, bytes: 1),
            .known(width: 1, height: 1, bytes: -1),
        ] {
            coders.add(ToyCoder(needs: needs))
            let error = #expect(throws: CoderError.self) { try read([7, 1]) }
            #expect(error?.kind == .coder)
        }
        coders.add(ToyCoder(needs: .known(width: .max, height: .max, bytes: .max)))
        let error = #expect(throws: CoderError.self) { try read([7, 1]) }
        #expect(error?.kind == .tooManyPixels)
        coders.add(ToyCoder(needs: .known(width: 1, height: 1, bytes: .max)))
        #expect(throws: CoderError.self) { try read([7, 1]) }
    }

    @Test func aCoderWithoutEstimatesTakesWhatIsAssumedAndThenWhatItNeeds() throws {
        // given: frames that turn out to take 32 MiB
        let side = 2896
        let pixels = UnsafeMutableRawBufferPointer.allocate(byteCount: side * side * 4, alignment: 8)
        defer { pixels.deallocate() }
        pixels.initializeMemory(as: UInt8.self, repeating: 1)
        nonisolated(unsafe) let base = UnsafeRawPointer(pixels.baseAddress)
        let coder = ToyCoder { frame in
            (frame.pixels, frame.stride, frame.pixelFormat) = (base, side * 4, 1)
            (frame.width, frame.height) = (Int32(side), Int32(side))
        }
        coders.add(coder)
        memory.limit.withLock { $0 = Self.assumed }
        // when: there is room for what is assumed, then for what the first frame has shown
        let lacking = try #require(try read([7, 1]).lacksRoom)
        let step = try read([7, 1], granted: Reservation(lacking))
        // then
        #expect(lacking == side * side * 8)
        #expect(step.isComplete)
        #expect(memory.asked.withLock { $0 } == [Self.assumed, lacking])
    }

    @Test func theTimeLimitHoldsBetweenFrames() throws {
        // given: frames of 10 ms each
        let coder = ToyCoder(isAnimated: true) { _ in
            let end = Self.threadTime + 10_000_000
            while Self.threadTime < end {}
        }
        coders.add(coder)
        var limits = DecodeLimits()
        (limits.milliseconds, limits.millisecondsPerMiB) = (1, 0)
        let frames = try #require(try read([7, 1, 2, 3, 4], limits: limits).pictures?.first?.image.get().animation)
        // then: the first frame may take its time, a far one is refused
        #expect(try frames.frame(0).plainBytes[0] == 1)
        #expect(throws: CoderError(.tooSlow)) { try frames.frame(3) }
        // and what has been decoded serves the next request
        #expect(throws: CoderError(.tooSlow)) { try frames.frame(3) }
        #expect(try frames.frame(3).plainBytes[0] == 4)
    }

    @Test func tooManyFramesAreRefusedAtOnce() throws {
        let coder = ToyCoder(isAnimated: true)
        coders.add(coder)
        var limits = DecodeLimits()
        limits.maxFrames = 3
        let frames = try #require(try read([7, 1, 2, 3, 4], limits: limits).pictures?.first?.image.get().animation)
        #expect(throws: CoderError(.tooManyFrames, "4 frames")) { try frames.frame(1) }
        #expect(frames.duration(of: 1) == 0)
        #expect(coder.log.withLock { $0 } == ["open 0", "frame 0", "close"])
    }

    @Test func aKeptDecoderCountsAsMemoryOfTheImage() throws {
        coders.add(ToyCoder(isAnimated: true, needs: .known(width: 1, height: 1, bytes: 5000)))
        let image = try #require(try read([7, 1, 2, 3, 4]).pictures?.first?.image.get())
        let before = image.memoryCost
        _ = try image.frame(1)
        #expect(image.memoryCost == before + 5000)
        _ = try image.frame(3)
        #expect(image.memoryCost == before)
    }

    @Test func preloadedFramesShareTheFirstWithThePicture() throws {
        let fixture = try AnimationFixture("as-pillow")
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn)
        let step = try stream.read(fixture.bytes, forms: [DecodeOptions(frames: .preload)], isLast: true)
        let image = try #require(try step.pictures?.first?.image.get())
        #expect(try image.frame(0)?.pixels === image.pixels)
    }

    private static var threadTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
