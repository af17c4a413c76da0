internal import Glibc

/// Whether a domain is a public suffix ("com", "co.uk"), for which no cookie may be set that goes to the hosts
/// below. libcurl asks libpsl for what servers set, and nobody for what a program sets; this asks the same libpsl.
enum PublicSuffix {
    private typealias Builtin = @convention(c) () -> OpaquePointer?
    private typealias IsSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Int32

    private struct Library: @unchecked Sendable {
        // Safety: libpsl's built-in list is constant.
        let list: OpaquePointer
        let isSuffix: IsSuffix
    }

    /// Where libcurl has brought it along, as it does on Debian: nothing here links to it.
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
        // What libcurl does without libpsl.
        return !domain.utf8.contains(UInt8(ascii: ".")) && domain != "localhost"
    }
}
