import SDDBase
import Testing

@Suite struct OnceReferenceTests {
    private final class Value: Sendable {
        let number: Int
        private let living: Monitor<Int>

        init(_ number: Int, living: Monitor<Int>) {
            self.number = number
            self.living = living
            living.withLock { $0 += 1 }
        }

        deinit { living.withLock { $0 -= 1 } }
    }

    private final class Owner: Sendable {
        let value = OnceReference<Value>()
    }

    @Test func keepsTheFirstStoredValue() {
        // given
        let living = Monitor(0)
        let owner = Owner()
        // then
        #expect(owner.value.load() == nil)
        // when
        let first = owner.value.storeIfNil(Value(1, living: living))
        let second = owner.value.storeIfNil(Value(2, living: living))
        // then
        #expect(first === second && first.number == 1 && owner.value.load() === first)
        #expect(living.withLock { $0 } == 1)
    }

    @Test func freesItsValueAtTheEnd() {
        // given
        let living = Monitor(0)
        var owner: Owner? = Owner()
        // when
        _ = owner?.value.storeIfNil(Value(1, living: living))
        #expect(living.withLock { $0 } == 1)
        owner = nil
        // then
        #expect(owner == nil && living.withLock { $0 } == 0)
    }

    /// The threads write and read the reference without a lock; the thread sanitizer must not report that.
    @Test func allThreadsGetTheSameValue() throws {
        for _ in 0..<100 {
            // given
            let living = Monitor(0)
            let owner = Owner()
            let numbers = Monitor<[Int]>([])
            // when
            let threads = try (1...4).map { number in
                try NativeThread(name: "setter-\(number)") {
                    let value = owner.value.load() ?? owner.value.storeIfNil(Value(number, living: living))
                    numbers.withLock { $0.append(value.number) }
                }
            }
            for thread in threads { thread.join() }
            // then
            #expect(Set(numbers.withLock { $0 }).count == 1 && living.withLock { $0 } == 1)
        }
    }
}
