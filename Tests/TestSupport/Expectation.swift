import SDDBase

/// Something that is to happen once or several times, for a test to wait for. Any thread.
package final class Expectation: Sendable {
    private let rest: Monitor<Int>

    package init(count: Int = 1) { rest = Monitor(count) }

    package func fulfil() {
        rest.withLock { $0 -= 1 }
        rest.broadcast()
    }

    /// Whether it happened as often as expected, or more often. The limit is long: it only ends tests that fail.
    package func wait(milliseconds: Int64 = 30_000) -> Bool {
        rest.wait(milliseconds: milliseconds) { $0 <= 0 ? true : nil } ?? false
    }

    /// By now, without waiting.
    package var isFulfilled: Bool { rest.withLock { $0 <= 0 } }
}

/// Collects what callbacks are given, in order, for a test to wait for and to look at. Any thread.
package final class Recorder<Element: Sendable>: Sendable {
    private let elements = Monitor<[Element]>([])

    package init() {}

    package func record(_ element: Element) {
        elements.withLock { $0.append(element) }
        elements.broadcast()
    }

    package var all: [Element] { elements.withLock { $0 } }

    /// Everything so far once there are `count` or more; nil when the limit was over first.
    package func wait(count: Int, milliseconds: Int64 = 30_000) -> [Element]? {
        elements.wait(milliseconds: milliseconds) { $0.count >= count ? $0 : nil }
    }

    /// The first that meets the condition, once there is one.
    package func wait(milliseconds: Int64 = 30_000, for condition: (Element) -> Bool) -> Element? {
        elements.wait(milliseconds: milliseconds) { $0.first(where: condition) }
    }
}
