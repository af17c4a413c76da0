public import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

@_cdecl("sdd_downloader_set_cookie") @implementation
public func sdd_downloader_set_cookie(_ downloader: OpaquePointer?, _ given: UnsafePointer<sdd_cookie>?) -> sdd_status {
    status { () throws(Refusal) in
        let copy = try read(given, "cookie")
        let cookie = try cookie(copy)
        guard try jar(of: downloader).set(cookie) else { throw refusal(of: cookie, domain: copy.domain) }
    }
}

@_cdecl("sdd_downloader_get_cookies") @implementation
public func sdd_downloader_get_cookies(
    _ downloader: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let out else { throw .null("out") }
        out.pointee = nil
        out.pointee = Handle.retained(CookieList(try jar(of: downloader).all()))
    }
}

@_cdecl("sdd_cookies_count") @implementation
public func sdd_cookies_count(_ cookies: OpaquePointer?) -> Int {
    given(Handle.cookies(cookies), "cookies")?.count ?? 0
}

@_cdecl("sdd_cookies_at") @implementation
public func sdd_cookies_at(
    _ cookies: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<sdd_cookie>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let cookies = Handle.cookies(cookies) else { throw .null("cookies") }
        guard out != nil else { throw .null("cookie") }
        guard let cookie = cookies.at(index) else {
            throw .index(UInt(bitPattern: index), of: cookies.count, "cookies")
        }
        try fill(out, "cookie", with: cookie)
    }
}

@_cdecl("sdd_cookies_release") @implementation
public func sdd_cookies_release(_ cookies: OpaquePointer?) { Handle.release(cookies) }

@_cdecl("sdd_downloader_clear_cookies") @implementation
public func sdd_downloader_clear_cookies(_ downloader: OpaquePointer?, _ given: UnsafePointer<CChar>?) -> sdd_status {
    status { () throws(Refusal) in
        let domain = try text(given, "domain")
        try jar(of: downloader).clear(domain: domain)
    }
}

private func jar(of downloader: OpaquePointer?) throws(Refusal) -> CookieJar {
    guard let jar = try Downloaders.downloader(downloader).cookies else {
        throw Refusal(SDD_ERROR_UNSUPPORTED, "downloader", "it has no cookies: libcurl was built without them")
    }
    return jar
}

// MARK: - One cookie

/// Returns the refusal of a cookie that libcurl does not take: because of the prefix of its name (RFC 6265bis §4.1.3), or
/// else of its domain.
private func refusal(of cookie: Cookie, domain: UnsafePointer<CChar>?) -> Refusal {
    let name = cookie.name.lowercased()
    let isOfHost = name.hasPrefix("__host-")
    let (place, flaw): (Place, String)
    if isOfHost || name.hasPrefix("__secure-"), !cookie.secure {
        (place, flaw) = ("sdd_cookie.secure", "it must be 1 for a name with \"__Secure-\" or \"__Host-\"")
    } else if isOfHost, cookie.path != "/" {
        (place, flaw) = ("sdd_cookie.path", "it must be \"/\" for a name with \"__Host-\"")
    } else if isOfHost, cookie.includeSubdomains {
        (place, flaw) = ("sdd_cookie.include_subdomains", "it must be 0 for a name with \"__Host-\"")
    } else {
        place = "sdd_cookie.domain"
        flaw = "\(shown(domain)) is not the domain of one site, or the cookie is too long for libcurl"
    }
    return Refusal(SDD_ERROR_INVALID_ARGUMENT, place, flaw)
}

/// The longest part of a cookie, in bytes: the minimum that RFC 6265 §6.1 requires is the maximum here.
private let longestPart = 4096

private func cookie(_ given: sdd_cookie) throws(Refusal) -> Cookie {
    let name = try part(given.name, "sdd_cookie.name")
    guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")) else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, "sdd_cookie.name", "\(shown(name)) is no name: not empty, and without \"=\"")
    }
    let domain = try part(given.domain, "sdd_cookie.domain")
    guard !domain.isEmpty else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "sdd_cookie.domain", "it is empty") }
    let path = given.path == nil ? "/" : try part(given.path, "sdd_cookie.path")
    guard path.hasPrefix("/") else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT, "sdd_cookie.path", "\(shown(path)) does not begin with \"/\"")
    }
    var made = Cookie(name: name, value: try part(given.value, "sdd_cookie.value"), domain: domain)
    made.path = path
    // A part of a second counts as a whole one.
    let expires = try number(given.expires_ms, "sdd_cookie.expires_ms", default: 0, most: .max)
    made.expires = expires / 1000 + (expires % 1000 > 0 ? 1 : 0)
    made.includeSubdomains = try flag(given.include_subdomains, "sdd_cookie.include_subdomains")
    made.secure = try flag(given.secure, "sdd_cookie.secure")
    made.httpOnly = try flag(given.http_only, "sdd_cookie.http_only")
    return made
}

/// Reads text without control characters and ";", which would end a cookie. Error messages do not show it, since it may
/// be a secret value.
private func part(_ string: UnsafePointer<CChar>?, _ place: Place) throws(Refusal) -> String {
    if string == nil { throw .null(place) }
    guard let text = headerValue(string), text.utf8.count <= longestPart,
        !text.utf8.contains(where: { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "\t") })
    else {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, place,
            "it must be UTF-8 of at most \(longestPart) bytes, without \";\" and control characters")
    }
    return text
}
