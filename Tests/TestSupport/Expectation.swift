import SDDBase

/// Something that should happen once or several times, which a test can wait for. Callable from any thread.
package final class Expectation: Sendable {
    private let rest: Monitor<Int>

    package init(count: Int = 1) { rest = Monitor(count) }

    package func fulfil() {
        rest.withLock { $0 -= 1 }
        rest.broadcast()
    }

    /// Waits until it has happened as often as expected, or more often. The limit is long: it only ends tests that
    /// fail.
    package func wait(milliseconds: Int64 = 30_000) -> Bool {
        rest.wait(milliseconds: milliseconds) { $0 <= 0 ? true : nil } ?? false
    }

    /// Whether it has happened as often as expected, without waiting.
    package var isFulfilled: Bool { rest.withLock { $0 <= 0 } }
}

/// Collects the arguments of callbacks, in order, for a test to wait for and to examine. Callable from any thread.
package final class Recorder<Element: Sendable>: Sendable {
    private let elements = Monitor<[Element]>([])

    package init() {}

    package func record(_ element: Element) {
        elements.withLock { $0.append(element) }
        elements.broadcast()
    }

    package var all: [Element] { elements.withLock { $0 } }

    /// Waits for `count` elements and returns everything recorded so far; nil if the limit ran out first.
    package func wait(count: Int, milliseconds: Int64 = 30_000) -> [Element]? {
        elements.wait(milliseconds: milliseconds) { $0.count >= count ? $0 : nil }
    }

    /// Waits for an element that meets the condition, and returns the first such.
    package func wait(milliseconds: Int64 = 30_000, for condition: (Element) -> Bool) -> Element? {
        elements.wait(milliseconds: milliseconds) { $0.first(where: condition) }
    }
}
