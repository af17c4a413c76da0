package import SDDTransport
import Synchronization

/// Up to which level messages are worth making. Read where they would be, on any thread.
package final class LogSwitch: Sendable {
    private let value = Atomic<Int32>(LogLevel.none.rawValue)

    package init() {}

    package var level: LogLevel {
        get { LogLevel(rawValue: value.load(ordering: .relaxed)) ?? .none }
        set { value.store(newValue.rawValue, ordering: .relaxed) }
    }
}
