internal import CCurl

/// libcurl's easy handle with its variadic calls made typed. Owns nothing: `CurlTransfer` makes and frees
/// the handle. What an option means is said where it is set.
/// thread: sdd-net
struct EasyHandle {
    let raw: UnsafeMutableRawPointer

    /// Why an option could not be set: no memory, or a libcurl built without the feature.
    struct Refusal: Error { let code: CURLcode }

    func set(_ option: CURLoption, _ value: Int) throws(Refusal) {
        try check(sddc_set_long(raw, option, value))
    }

    func set(_ option: CURLoption, _ value: Bool) throws(Refusal) {
        try check(sddc_set_long(raw, option, value ? 1 : 0))
    }

    func setLarge(_ option: CURLoption, _ value: Int64) throws(Refusal) {
        try check(sddc_set_off_t(raw, option, curl_off_t(value)))
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) throws(Refusal) {
        try check(value.withCString { sddc_set_string(raw, option, $0) })
    }

    func clear(_ option: CURLoption) throws(Refusal) {
        try check(sddc_set_string(raw, option, nil))
    }

    /// libcurl keeps the pointer: whoever sets it keeps alive what it points to.
    func set(_ option: CURLoption, pointer: UnsafeRawPointer?) throws(Refusal) {
        try check(sddc_set_pointer(raw, option, pointer))
    }

    /// libcurl keeps the list, as above.
    func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>?) throws(Refusal) {
        try check(sddc_set_list(raw, option, list))
    }

    func set(_ option: CURLoption, callback: curl_write_callback) throws(Refusal) {
        try check(sddc_set_write_callback(raw, option, callback))
    }

    func set(_ option: CURLoption, callback: curl_opensocket_callback) throws(Refusal) {
        try check(sddc_set_socket_callback(raw, option, callback))
    }

    func set(_ option: CURLoption, callback: curl_debug_callback) throws(Refusal) {
        try check(sddc_set_debug_callback(raw, option, callback))
    }

    func set(_ option: CURLoption, callback: curl_prereq_callback) throws(Refusal) {
        try check(sddc_set_prereq_callback(raw, option, callback))
    }

    /// libcurl keeps the share, as above; nil leaves the one it has.
    func set(_ option: CURLoption, share: UnsafeMutableRawPointer?) throws(Refusal) {
        try check(sddc_set_share(raw, option, share))
    }

    private func check(_ code: CURLcode) throws(Refusal) {
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

    func pointer(_ info: CURLINFO) -> UnsafeMutableRawPointer? {
        var value: UnsafeMutableRawPointer?
        _ = sddc_get_pointer(raw, info, &value)
        return value
    }

    /// In the order of libcurl's list.
    func texts(_ info: CURLINFO) -> [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        _ = sddc_get_list(raw, info, &list)
        defer { curl_slist_free_all(list) }
        var texts: [String] = []
        var next = list
        while let entry = next?.pointee {
            if let text = entry.data { texts.append(String(cString: text)) }
            next = entry.next
        }
        return texts
    }

    /// 10, 11, 20, 30; 0 before there is a response.
    var httpVersion: Int32 {
        switch number(CURLINFO_HTTP_VERSION) {
        case CURL_HTTP_VERSION_1_0: 10
        case CURL_HTTP_VERSION_1_1: 11
        case CURL_HTTP_VERSION_2_0: 20
        case CURL_HTTP_VERSION_3: 30
        default: 0
        }
    }

    /// The values of a field of the final response, in their order.
    func responseFields(_ name: StaticString) -> [String] {
        // Safety: a static string ends with NUL and lives for ever. -1 is the last request of a chain.
        let name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        var values: [String] = []
        var field: UnsafeMutablePointer<curl_header>?
        while curl_easy_header(raw, name, values.count, UInt32(CURLH_HEADER), -1, &field) == CURLHE_OK,
            let value = field?.pointee.value
        {
            values.append(String(cString: value))
        }
        return values
    }
}
