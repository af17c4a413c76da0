package import SDDTransport
import Synchronization

/// The most detailed level at which log messages are made. Thread-safe.
package final class LogSwitch: Sendable {
    private let value = Atomic<Int32>(LogLevel.none.rawValue)

    package init() {}

    package var level: LogLevel {
        get { LogLevel(rawValue: value.load(ordering: .relaxed)) ?? .none }
        set { value.store(newValue.rawValue, ordering: .relaxed) }
    }
}
