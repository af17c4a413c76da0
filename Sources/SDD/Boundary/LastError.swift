public import CSDD
internal import Glibc

// sdd_last_error() gives the failure of each thread's last failed call.

/// The last failure of each thread, with its message, in memory that the thread owns and that is freed when it ends. A
/// thread without a failed call has none.
enum LastError {
    /// The failure, followed by the text of its message.
    private static let textOffset = MemoryLayout<sdd_failure>.stride
    private static let capacity = 1024

    /// The key of the thread-specific memory; `nil` if the process has no key left.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, { free($0) }) == 0 ? key : nil
    }()

    /// The calling thread's failure; `nil` if none of its calls has failed.
    static var failure: UnsafePointer<sdd_failure>? {
        key.flatMap { pthread_getspecific($0) }.map { UnsafePointer($0.assumingMemoryBound(to: sdd_failure.self)) }
    }

    /// Replaces the calling thread's failure, at the same address.
    static func note(_ failure: sdd_failure, _ sentence: String) {
        guard let place else { return }
        writeCut(sentence, to: text(place), capacity: capacity)
        set(failure, at: place)
    }

    /// Records that a getter was given NULL. Allocates nothing but the thread's own memory, since some programs pass
    /// NULL to getters routinely.
    static func noteNull(_ argument: StaticString, _ function: StaticString) {
        guard let place else { return }
        let text = text(place)
        var end = append(name(function), to: text, at: 0)
        end = append(": ", to: text, at: end)
        end = append(argument, to: text, at: end)
        text[append(": NULL is not allowed.", to: text, at: end)] = 0
        set(sdd_failure(refusing: sdd_status(SDD_ERROR_INVALID_ARGUMENT)), at: place)
    }

    private static func set(_ failure: sdd_failure, at place: UnsafeMutablePointer<sdd_failure>) {
        var failure = failure
        failure.message = UnsafePointer(text(place))
        place.pointee = failure
    }

    private static func text(_ place: UnsafeMutablePointer<sdd_failure>) -> UnsafeMutablePointer<CChar> {
        (UnsafeMutableRawPointer(place) + textOffset).assumingMemoryBound(to: CChar.self)
    }

    private static func append(_ text: StaticString, to place: UnsafeMutablePointer<CChar>, at start: Int) -> Int {
        append((text.utf8Start, text.utf8CodeUnitCount), to: place, at: start)
    }

    private static func append(
        _ text: (start: UnsafePointer<UInt8>, count: Int), to place: UnsafeMutablePointer<CChar>, at start: Int
    ) -> Int {
        let count = min(text.count, capacity - 1 - start)
        memcpy(place + start, text.start, count)
        return start + count
    }

    /// Returns the C name of a function: `#function` without the argument labels.
    private static func name(_ function: StaticString) -> (start: UnsafePointer<UInt8>, count: Int) {
        var count = 0
        while count < function.utf8CodeUnitCount, function.utf8Start[count] != UInt8(ascii: "(") { count += 1 }
        return (function.utf8Start, count)
    }

    /// The memory for the calling thread's failure; `nil` if none could be allocated.
    private static var place: UnsafeMutablePointer<sdd_failure>? {
        guard let key else { return nil }
        return (pthread_getspecific(key) ?? made(key))?.assumingMemoryBound(to: sdd_failure.self)
    }

    private static func made(_ key: pthread_key_t) -> UnsafeMutableRawPointer? {
        guard let memory = malloc(textOffset + capacity) else { return nil }
        guard pthread_setspecific(key, memory) == 0 else {
            free(memory)
            return nil
        }
        return memory
    }
}

@_cdecl("sdd_last_error") @implementation
public func sdd_last_error(_ out: UnsafeMutablePointer<sdd_failure>?) -> sdd_status {
    guard let failure = LastError.failure else {
        var none = sdd_failure()
        none.message = emptyString
        out?.pointee = none
        return sdd_status(SDD_OK)
    }
    out?.pointee = failure.pointee
    return failure.pointee.status
}

@_cdecl("sdd_last_error_message") @implementation
public func sdd_last_error_message() -> UnsafePointer<CChar>? { LastError.failure?.pointee.message ?? emptyString }

// MARK: - Calls

/// Runs a call and returns its status. If it fails, records the failure for sdd_last_error().
/// - Parameter function: the C name followed by Swift's argument labels.
func status(_ function: StaticString = #function, of body: () throws(Refusal) -> Void) -> sdd_status {
    do throws(Refusal) {
        try body()
        return sdd_status(SDD_OK)
    } catch {
        LastError.note(error.failure, error.sentence(of: function))
        return error.status
    }
}

/// Runs a call that does not return a status. If it fails, records the failure and returns `nothing`.
func answer<Value>(
    orElse nothing: Value, _ function: StaticString = #function, of body: () throws(Refusal) -> Value
) -> Value {
    do throws(Refusal) {
        return try body()
    } catch {
        LastError.note(error.failure, error.sentence(of: function))
        return nothing
    }
}

/// Returns the object a getter was given. For NULL it returns `nil` and records the error.
func given<Object>(_ object: Object?, _ argument: StaticString, _ function: StaticString = #function) -> Object? {
    if object == nil { LastError.noteNull(argument, function) }
    return object
}
