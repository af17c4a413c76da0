import Glibc
package import SDDBase

/// Returns a TCP socket bound to 127.0.0.1; port 0 takes a free one.
func bindLoopback(port: UInt16) throws(SystemError) -> (descriptor: Int32, port: UInt16) {
    let descriptor = try tcpSocket()
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = loopbackAddress(port: port)
    let isBound = withSocketAddress(&address) { pointer, size in
        var size = size
        return bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
    }
    guard isBound else { throw closing(descriptor) }
    return (descriptor, UInt16(bigEndian: address.sin_port))
}

/// Opens a TCP connection to 127.0.0.1, for tests that speak HTTP by hand. The caller closes it.
package func connectToLoopback(port: UInt16) throws(SystemError) -> Int32 {
    let descriptor = try tcpSocket()
    var address = loopbackAddress(port: port)
    let isConnected = withSocketAddress(&address) { connect(descriptor, $0, $1) == 0 }
    guard isConnected else { throw closing(descriptor) }
    return descriptor
}

/// Opens a connection to a Unix socket. The caller closes it.
package func connectToUnixSocket(_ path: String) throws(SystemError) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw SystemError(errno: ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError(errno: errno) }
    // Safety: sockaddr_un is what connect takes for AF_UNIX, with its size beside it.
    let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
    }
    guard isConnected else { throw closing(descriptor) }
    return descriptor
}

private func tcpSocket() throws(SystemError) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError(errno: errno) }
    return descriptor
}

/// Closes the descriptor and returns the error of the call before.
private func closing(_ descriptor: Int32) -> SystemError {
    let error = SystemError(errno: errno)
    close(descriptor)
    return error
}

private func loopbackAddress(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    return address
}

private func withSocketAddress(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Bool
) -> Bool {
    // Safety: sockaddr_in is what the socket calls take for AF_INET, with its size beside it.
    withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
