internal import Glibc

/// Knows whether a domain is a public suffix ("com", "co.uk"), for which no cookie may be set that is sent to its
/// subdomains. libcurl checks only cookies that servers set, with libpsl; this checks those of the application, with
/// the same libpsl.
enum PublicSuffix {
    private typealias Builtin = @convention(c) () -> OpaquePointer?
    private typealias IsSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Int32

    private struct Library: @unchecked Sendable {
        // Safety: libpsl's built-in list is constant.
        let list: OpaquePointer
        let isSuffix: IsSuffix
    }

    /// libpsl, if libcurl has loaded it, as it does on Debian. Nothing here links to it.
    private static let library: Library? = {
        guard let builtin = dlsym(nil, "psl_builtin"), let isSuffix = dlsym(nil, "psl_is_public_suffix") else {
            return nil
        }
        // Safety: the two functions have had these types in all of libpsl's releases.
        guard let list = unsafeBitCast(builtin, to: Builtin.self)() else { return nil }
        return Library(list: list, isSuffix: unsafeBitCast(isSuffix, to: IsSuffix.self))
    }()

    static func contains(_ domain: String) -> Bool {
        let domain = domain.lowercased()
        if let library { return library.isSuffix(library.list, domain) != 0 }
        // This is libcurl's rule without libpsl.
        return !domain.utf8.contains(UInt8(ascii: ".")) && domain != "localhost"
    }
}
