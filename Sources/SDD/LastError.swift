internal import CSDD
internal import Glibc

// What a thread's last failed call failed for.

/// The sentence of each thread, in memory that the thread owns and that goes with it. A thread none of whose calls has
/// failed has none.
enum LastError {
    private static let capacity = 1024

    /// nil where the process has no key left for it.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, { free($0) }) == 0 ? key : nil
    }()

    /// The calling thread's; nil if none of its calls has failed.
    static var text: UnsafePointer<CChar>? {
        key.flatMap { pthread_getspecific($0) }.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) }
    }

    /// In place of the sentence before, at the same address.
    static func note(_ sentence: String) {
        guard let key, let place = pthread_getspecific(key) ?? made(key) else { return }
        writeCut(sentence, to: place.assumingMemoryBound(to: CChar.self), capacity: capacity)
    }

    private static func made(_ key: pthread_key_t) -> UnsafeMutableRawPointer? {
        guard let place = malloc(capacity) else { return nil }
        guard pthread_setspecific(key, place) == 0 else {
            free(place)
            return nil
        }
        return place
    }
}

@_cdecl("sdd_last_error_message") @implementation
public func sdd_last_error_message() -> UnsafePointer<CChar>? { LastError.text ?? emptyString }

// MARK: - Calls

/// The status a call returns. Of one that fails the thread can ask why.
/// - Parameter function: the C name, and what Swift puts behind it.
func status(_ function: StaticString = #function, of body: () throws(Refusal) -> Void) -> sdd_status {
    do throws(Refusal) {
        try body()
        return sdd_status(SDD_OK)
    } catch {
        LastError.note(error.sentence(of: function))
        return error.status
    }
}

/// The same of a call that returns something else.
func answer<Value>(
    orElse nothing: Value, _ function: StaticString = #function, of body: () throws(Refusal) -> Value
) -> Value {
    do throws(Refusal) {
        return try body()
    } catch {
        LastError.note(error.sentence(of: function))
        return nothing
    }
}

/// What a getter asks; nil, and noted, if it was given NULL.
func given<Object>(_ object: Object?, _ place: Place, _ function: StaticString = #function) -> Object? {
    if object == nil { LastError.note(Refusal.null(place).sentence(of: function)) }
    return object
}
