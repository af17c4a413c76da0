internal import CCurl
internal import Glibc

/// What handles that come one after another have in common: TLS sessions, so that a connection to a known host can
/// resume one, and for those that use cookies the jar. Used on several threads, with the locks that libcurl asks for.
/// Each handle that is given a share keeps it alive. docs/libcurl-state.md says why each of the two may be shared.
/// Any thread.
final class CurlShare: @unchecked Sendable {
    // Safety: libcurl guards it with `locks`.
    let raw: UnsafeMutableRawPointer
    private let locks: Locks

    /// - Returns: nil when there is no memory, or libcurl was built without cookies that were asked for.
    init?(hasCookies: Bool) {
        guard let raw = curl_share_init() else { return nil }
        let locks = Locks()
        // Safety: the share keeps the address, and goes before the locks do.
        let address = Unmanaged.passUnretained(locks).toOpaque()
        guard sddc_share_set_lock(raw, CURLSHOPT_LOCKFUNC, Self.lock) == CURLSHE_OK,
            sddc_share_set_unlock(raw, CURLSHOPT_UNLOCKFUNC, Self.unlock) == CURLSHE_OK,
            sddc_share_set_pointer(raw, CURLSHOPT_USERDATA, address) == CURLSHE_OK,
            !hasCookies || sddc_share_set_int(raw, CURLSHOPT_SHARE, Int32(CURL_LOCK_DATA_COOKIE.rawValue)) == CURLSHE_OK
        else {
            curl_share_cleanup(raw)
            return nil
        }
        // A libcurl without TLS says no, and has no sessions.
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

    /// One for each kind of data, since libcurl may hold two at a time. Not `Monitor`: what is between the two calls
    /// is libcurl's.
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

        func lock(_ data: curl_lock_data) { pthread_mutex_lock(mutex(data)) }
        func unlock(_ data: curl_lock_data) { pthread_mutex_unlock(mutex(data)) }

        /// A kind of data that a later libcurl has is not shared, and never asked for.
        private func mutex(_ data: curl_lock_data) -> UnsafeMutablePointer<pthread_mutex_t> {
            mutexes + min(Int(data.rawValue), Self.count - 1)
        }
    }
}
