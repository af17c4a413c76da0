internal import CSystem
internal import Glibc

/// Byte counts that the kernel keeps for a TCP connection.
package enum SocketCounts {
    /// Returns the number of bytes received; nil for sockets other than TCP.
    package static func received(over descriptor: Int32) -> Int64? { info(descriptor)?.received }

    /// Returns the number of bytes written to the socket, whether the peer has acknowledged them or not.
    package static func sent(over descriptor: Int32) -> Int64? {
        info(descriptor).map { $0.acknowledged + Int64(max(0, sddsys_unsent(descriptor))) }
    }

    package static func waiting(at descriptor: Int32) -> Int32 { max(0, sddsys_unread(descriptor)) }

    package static func localPort(of descriptor: Int32) -> UInt16? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            // Safety: the record is large enough for every address, and the port follows the family in both kinds.
            guard let start = bytes.baseAddress,
                getsockname(descriptor, start.assumingMemoryBound(to: sockaddr.self), &length) == 0,
                [AF_INET, AF_INET6].contains(Int32(bytes.load(as: sa_family_t.self)))
            else { return nil }
            return UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// Reads and discards the bytes that have arrived, up to 64 MiB.
    package static func discard(at descriptor: Int32) {
        let size = 64 << 10
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { buffer in
            var left = 1024
            while left > 0, recv(descriptor, buffer.baseAddress, size, Int32(MSG_DONTWAIT)) > 0 { left -= 1 }
        }
    }

    /// Bytes that a connection has received so far, and for how long none has come.
    package struct Arrivals: Equatable {
        package let received: Int64
        package let silentMicroseconds: Int64

        package init(received: Int64, silentMicroseconds: Int64) {
            (self.received, self.silentMicroseconds) = (received, silentMicroseconds)
        }
    }

    /// - Returns: `nil` for sockets other than TCP.
    package static func arrivals(over descriptor: Int32) -> Arrivals? {
        info(descriptor).map { Arrivals(received: $0.received, silentMicroseconds: $0.silent) }
    }

    private static func info(_ descriptor: Int32) -> (acknowledged: Int64, received: Int64, silent: Int64)? {
        var counts = sddsys_tcp_counts()
        guard sddsys_count_tcp(descriptor, &counts) == 0 else { return nil }
        return (
            Int64(clamping: counts.acknowledged), Int64(clamping: counts.received), Int64(counts.silent_ms) * 1000
        )
    }
}
