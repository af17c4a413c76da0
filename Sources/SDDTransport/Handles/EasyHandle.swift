internal import CCurl
internal import Glibc

/// A libcurl easy handle with typed versions of its variadic functions, freed with its last reference. Each option is
/// explained where it is set.
/// thread: the owner's; sdd-net for the handle of a transfer
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    /// The buffer for libcurl's error message.
    private let sentence = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The share in use, kept alive until the handle has been freed.
    private var share: CurlShare?
    /// The shape of the requests that the handle is set up for; `nil` if it is set up for nothing, or if an option was
    /// set or its transfer paused since.
    var shape: HandleShape?

    /// Fails if libcurl has no memory for a handle.
    init?() {
        guard let raw = curl_easy_init() else {
            sentence.deallocate()
            return nil
        }
        self.raw = raw
        sentence.pointee = 0
        _ = sddc_set_pointer(raw, CURLOPT_ERRORBUFFER, sentence)
    }

    deinit {
        curl_easy_cleanup(raw)
        sentence.deallocate()
    }

    /// libcurl's message on the failure of the handle's transfer; "" if there is none.
    var words: String { String(cString: sentence) }

    /// The reason why an option could not be set: no memory, or a libcurl built without the feature.
    struct Refusal: Error {
        let code: CURLcode
        /// The refused option, if it is one that takes a text.
        var option: CURLoption?
    }

    func set(_ option: CURLoption, _ value: Int) throws(Refusal) {
        try check(sddc_set_long(raw, option, value))
    }

    func set(_ option: CURLoption, _ value: Bool) throws(Refusal) {
        try check(sddc_set_long(raw, option, value ? 1 : 0))
    }

    func setLarge(_ option: CURLoption, _ value: Int64) throws(Refusal) {
        try check(sddc_set_off_t(raw, option, curl_off_t(value)))
    }

    /// Sets a text option. libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) throws(Refusal) {
        shape = nil
        let code = value.withCString { sddc_set_string(raw, option, $0) }
        guard code == CURLE_OK else { throw Refusal(code: code, option: option) }
    }

    /// Sets a text option to bytes that may be no UTF-8, and have no 0.
    func set(_ option: CURLoption, bytes: [UInt8]) throws(Refusal) {
        let text = (bytes + [0]).map { CChar(bitPattern: $0) }
        try check(text.withUnsafeBufferPointer { sddc_set_string(raw, option, $0.baseAddress) })
    }

    func clear(_ option: CURLoption) throws(Refusal) {
        try check(sddc_set_string(raw, option, nil))
    }

    /// Sets a text option; `nil` clears it, also where libcurl has a value of its own.
    func replace(_ option: CURLoption, by value: String?) throws(Refusal) {
        if let value { try set(option, value) } else { try clear(option) }
    }

    /// Sets a pointer option. libcurl keeps the pointer, so the caller must keep the memory alive.
    func set(_ option: CURLoption, pointer: UnsafeRawPointer?) throws(Refusal) {
        try check(sddc_set_pointer(raw, option, pointer))
    }

    /// Sets a list option. libcurl keeps the list, so the caller must keep it alive.
    func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>?) throws(Refusal) {
        try check(sddc_set_list(raw, option, list))
    }

    func set(_ option: CURLoption, callback: curl_write_callback) throws(Refusal) {
        try check(sddc_set_write_callback(raw, option, callback))
    }

    func set(_ option: CURLoption, callback: curl_opensocket_callback) throws(Refusal) {
        try check(sddc_set_socket_callback(raw, option, callback))
    }

    func set(_ option: CURLoption, callback: curl_closesocket_callback) throws(Refusal) {
        try check(sddc_set_close_callback(raw, option, callback))
    }

    func set(_ option: CURLoption, callback: curl_debug_callback) throws(Refusal) {
        try check(sddc_set_debug_callback(raw, option, callback))
    }

    func set(_ option: CURLoption, callback: curl_prereq_callback) throws(Refusal) {
        try check(sddc_set_prereq_callback(raw, option, callback))
    }

    func set(_ option: CURLoption, share: CurlShare) throws(Refusal) {
        try check(sddc_set_share(raw, option, share.raw))
        self.share = share
    }

    /// Pauses or continues the handle's transfer, as CURLPAUSE_* say.
    func pause(_ directions: Int32) {
        shape = nil
        _ = curl_easy_pause(raw, directions)
    }

    /// Returns what the body callback returns so that libcurl stops reading.
    func stopReading() -> Int {
        shape = nil
        return Int(CURL_WRITEFUNC_PAUSE)
    }

    private func check(_ code: CURLcode) throws(Refusal) {
        shape = nil
        guard code == CURLE_OK else { throw Refusal(code: code) }
    }
}

extension EasyHandle {
    func number(_ info: CURLINFO) -> Int {
        var value = 0
        _ = sddc_get_long(raw, info, &value)
        return value
    }

    func large(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        _ = sddc_get_off_t(raw, info, &value)
        return Int64(value)
    }

    func text(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        _ = sddc_get_string(raw, info, &value)
        return value.map { String(cString: $0) }
    }

    /// Returns the pointer that CURLOPT_PRIVATE was set to.
    static func context(of raw: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        var value: UnsafeMutableRawPointer?
        _ = sddc_get_pointer(raw, CURLINFO_PRIVATE, &value)
        return value
    }

    /// Returns the bytes of the texts in the order of libcurl's list.
    func texts(_ info: CURLINFO) -> [[UInt8]] {
        var list: UnsafeMutablePointer<curl_slist>?
        _ = sddc_get_list(raw, info, &list)
        defer { curl_slist_free_all(list) }
        var texts: [[UInt8]] = []
        var next = list
        while let entry = next?.pointee {
            if let text = entry.data { texts.append(Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))) }
            next = entry.next
        }
        return texts
    }

    /// The HTTP version as 10, 11, 20 or 30; 0 before there is a response.
    var httpVersion: Int32 {
        switch number(CURLINFO_HTTP_VERSION) {
        case CURL_HTTP_VERSION_1_0: 10
        case CURL_HTTP_VERSION_1_1: 11
        case CURL_HTTP_VERSION_2_0: 20
        case CURL_HTTP_VERSION_3: 30
        default: 0
        }
    }
}
