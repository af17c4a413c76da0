internal import CCurl
internal import CSystem
internal import Glibc

/// State that successive handles share: TLS sessions, so that a connection to a known host can resume one, and the
/// cookie jar for handles that use cookies. Used on several threads, under the locks that libcurl requests. Each handle
/// with a share keeps it alive. docs/libcurl-state.md explains why both may be shared. Any thread.
final class CurlShare: @unchecked Sendable {
    // Safety: libcurl guards it with `locks`.
    let raw: UnsafeMutableRawPointer
    private let locks: Locks

    /// - Returns: `nil` if there is no memory, or if cookies are wanted and libcurl was built without them.
    init?(hasCookies: Bool) {
        guard let raw = curl_share_init() else { return nil }
        let locks = Locks()
        // Safety: the share keeps the address, and is freed before the locks.
        let address = Unmanaged.passUnretained(locks).toOpaque()
        guard sddc_share_set_lock(raw, CURLSHOPT_LOCKFUNC, Self.lock) == CURLSHE_OK,
            sddc_share_set_unlock(raw, CURLSHOPT_UNLOCKFUNC, Self.unlock) == CURLSHE_OK,
            sddc_share_set_pointer(raw, CURLSHOPT_USERDATA, address) == CURLSHE_OK,
            !hasCookies || sddc_share_set_int(raw, CURLSHOPT_SHARE, Int32(CURL_LOCK_DATA_COOKIE.rawValue)) == CURLSHE_OK
        else {
            curl_share_cleanup(raw)
            return nil
        }
        // A libcurl without TLS refuses this, and has no sessions.
        _ = sddc_share_set_int(raw, CURLSHOPT_SHARE, Int32(CURL_LOCK_DATA_SSL_SESSION.rawValue))
        self.raw = raw
        self.locks = locks
    }

    deinit { curl_share_cleanup(raw) }

    private static let lock: curl_lock_function = { _, data, _, context in
        if let context { locks(context).lock(data) }
    }

    private static let unlock: curl_unlock_function = { _, data, context in
        if let context { locks(context).unlock(data) }
    }

    private static func locks(_ context: UnsafeMutableRawPointer) -> Locks {
        // Safety: the address that `init` gave.
        Unmanaged<Locks>.fromOpaque(context).takeUnretainedValue()
    }

    /// A mutex for each kind of data, because libcurl may hold two at a time. `Monitor` does not fit, because libcurl
    /// runs between the two calls.
    private final class Locks {
        private static let count = Int(CURL_LOCK_DATA_LAST.rawValue)
        private let mutexes = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: count)

        init() {
            for index in 0..<Self.count { pthread_mutex_init(mutexes + index, nil) }
        }

        deinit {
            for index in 0..<Self.count { pthread_mutex_destroy(mutexes + index) }
            mutexes.deallocate()
        }

        func lock(_ data: curl_lock_data) { sddsys_lock(mutex(data)) }
        func unlock(_ data: curl_lock_data) { sddsys_unlock(mutex(data)) }

        /// Returns the mutex for a kind of data. Kinds that only a later libcurl has are not shared, so it never locks
        /// them.
        private func mutex(_ data: curl_lock_data) -> UnsafeMutablePointer<pthread_mutex_t> {
            mutexes + min(Int(data.rawValue), Self.count - 1)
        }
    }
}
