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
    static func note(_ sentence: String) { writeCut(sentence, to: place, capacity: capacity) }

    /// The sentence on a NULL that a getter was given. Takes no memory but the thread's own: there are programs that ask
    /// what they have not got.
    static func noteNull(_ argument: StaticString, _ function: StaticString) {
        guard let place else { return }
        var end = append(name(function), to: place, at: 0)
        end = append(": ", to: place, at: end)
        end = append(argument, to: place, at: end)
        place[append(": NULL is not allowed.", to: place, at: end)] = 0
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

    /// In C: without what Swift puts behind it.
    private static func name(_ function: StaticString) -> (start: UnsafePointer<UInt8>, count: Int) {
        var count = 0
        while count < function.utf8CodeUnitCount, function.utf8Start[count] != UInt8(ascii: "(") { count += 1 }
        return (function.utf8Start, count)
    }

    /// Where the calling thread's sentence is to stand; nil without memory.
    private static var place: UnsafeMutablePointer<CChar>? {
        guard let key else { return nil }
        return (pthread_getspecific(key) ?? made(key))?.assumingMemoryBound(to: CChar.self)
    }

    private static func made(_ key: pthread_key_t) -> UnsafeMutableRawPointer? {
        guard let memory = malloc(capacity) else { return nil }
        guard pthread_setspecific(key, memory) == 0 else {
            free(memory)
            return nil
        }
        return memory
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
func given<Object>(_ object: Object?, _ argument: StaticString, _ function: StaticString = #function) -> Object? {
    if object == nil { LastError.noteNull(argument, function) }
    return object
}
