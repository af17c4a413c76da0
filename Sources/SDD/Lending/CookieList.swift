internal import CSDD
internal import SDDBase
internal import SDDTransport

extension Handle {
    static func cookies(_ handle: OpaquePointer?) -> CookieList? { object(handle) }
}

/// A snapshot of the cookies, with their texts as C strings. Immutable.
final class CookieList: @unchecked Sendable {
    // Safety: constants; the pointers in `cookies` refer to `texts`.
    private let cookies: [sdd_cookie]
    private let texts: [CText]

    init(_ source: [Cookie]) {
        var texts: [CText] = []
        cookies = source.map { cookie in
            var made = sdd_cookie()
            made.name = texts.keep(cookie.name)
            made.value = texts.keep(cookie.value)
            made.domain = texts.keep(cookie.domain)
            made.path = texts.keep(cookie.path)
            made.expires_ms = cookie.expires > Int64.max / 1000 ? .max : cookie.expires * 1000
            made.include_subdomains = cookie.includeSubdomains ? 1 : 0
            made.secure = cookie.secure ? 1 : 0
            made.http_only = cookie.httpOnly ? 1 : 0
            return made
        }
        self.texts = texts
    }

    var count: Int { cookies.count }

    func at(_ index: Int) -> sdd_cookie? { cookies.indices.contains(index) ? cookies[index] : nil }
}
