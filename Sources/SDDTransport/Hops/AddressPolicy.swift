internal import CCurl
internal import Glibc

/// An address that must not be connected to, and the rule that forbids it.
struct AddressRefusal {
    enum Rule {
        /// SDD_ADDRESS_PUBLIC_ONLY. `use` is `nil` if it is not an IP address.
        case publicOnly(use: StaticString?)
        /// The application's address_filter.
        case filter
    }

    let address: String
    let rule: Rule

    func sentence(host: String) -> String {
        let what = address.isEmpty || address == host ? host : "\(address), an address of \(host),"
        switch rule {
        case .publicOnly(let use):
            let why = use.map { "it is for \($0)" } ?? "it is no IP address"
            return "\(what) is refused, as only public addresses are allowed: \(why); an exception can allow it."
        case .filter: return "\(what) is refused by the application's address_filter."
        }
    }
}

/// Decides where connections may go to, before each one is opened.
struct AddressPolicy: Sendable {
    private let publicOnly: Bool
    private let exceptions: [AddressException]
    private let filter: (@Sendable (String, Int32) -> Bool)?

    init(_ configuration: TransportConfiguration) {
        publicOnly = configuration.addressPolicy == .publicOnly
        // Malformed entries are refused when the transport starts.
        exceptions = configuration.addressExceptions.compactMap { AddressException($0) }
        filter = configuration.addressFilter
    }

    /// True if no address needs to be checked.
    var allowsEverything: Bool { !publicOnly && filter == nil }

    /// - Parameter url: The URL of the hop.
    /// - Returns: `nil` if the address may be connected to.
    func refusal(of address: UnsafePointer<sockaddr>, for url: String) -> AddressRefusal? {
        guard let ip = IPAddress(address) else {
            // This is a Unix socket from the configuration, which has no address for a filter.
            return publicOnly ? AddressRefusal(address: "", rule: .publicOnly(use: nil)) : nil
        }
        let port = Self.port(address)
        guard !publicOnly || ip.isPublic || isException(ip, port: port, url) else {
            return AddressRefusal(address: ip.text, rule: .publicOnly(use: ip.use))
        }
        if let filter, !filter(ip.text, port) { return AddressRefusal(address: ip.text, rule: .filter) }
        return nil
    }

    private func isException(_ address: IPAddress, port: Int32, _ url: String) -> Bool {
        if exceptions.isEmpty { return false }
        let host = AddressException.plain(URLText.host(url))
        return exceptions.contains { $0.allows(address, port: port, host: host) }
    }

    private static func port(_ address: UnsafePointer<sockaddr>) -> Int32 {
        // Safety: sockaddr_in and sockaddr_in6 have the port at the same offset.
        Int32(UInt16(bigEndian: UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_port))
    }
}

extension AddressPolicy {
    /// - Returns: `nil` if the address may be connected to.
    func refusal(of address: UnsafeMutablePointer<curl_sockaddr>, for url: String) -> AddressRefusal? {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else {
            return AddressRefusal(address: "", rule: .publicOnly(use: nil))
        }
        // Safety: libcurl's record ends with the address, which has the size of its family and may exceed `sockaddr`.
        let place = UnsafeRawPointer(address) + offset
        return refusal(of: place.assumingMemoryBound(to: sockaddr.self), for: url)
    }
}
