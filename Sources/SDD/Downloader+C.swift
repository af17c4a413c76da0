public import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

@_cdecl("sdd_downloader_config_init") @implementation
public func sdd_downloader_config_init(
    _ config: UnsafeMutablePointer<sdd_downloader_config>?, _ structSize: Int
) -> sdd_status {
    status { () throws(Refusal) in try initialize(config, size: structSize) }
}

@_cdecl("sdd_downloader_create") @implementation
public func sdd_downloader_create(
    _ config: UnsafePointer<sdd_downloader_config>?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let out else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        out.pointee = nil
        var copy = sdd_downloader_config()
        if let config { try read(config, into: &copy, minimum: MemoryLayout<Int>.size) }
        let configuration = try makeConfiguration(copy)
        out.pointee = try Handle.add { () throws(SystemError) in try makeDownloader(configuration) }
    }
}

@_cdecl("sdd_downloader_destroy") @implementation
public func sdd_downloader_destroy(_ downloader: OpaquePointer?) -> sdd_status {
    status { () throws(Refusal) in try Handle.remove(downloader).destroy() }
}

@_cdecl("sdd_shared") @implementation
public func sdd_shared() -> OpaquePointer? { try? Handle.shared() }

@_cdecl("sdd_set_header") @implementation
public func sdd_set_header(
    _ downloader: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let name = headerName(name) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        let text = value.flatMap(headerValue)
        guard (text == nil) == (value == nil) else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        try Handle.downloader(downloader).setHeader(name, to: text)
    }
}

@_cdecl("sdd_get_header") @implementation
public func sdd_get_header(
    _ downloader: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ buffer: UnsafeMutablePointer<CChar>?,
    _ capacity: Int, _ length: UnsafeMutablePointer<Int>?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let name = headerName(name), buffer != nil || capacity == 0 else {
            throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
        }
        guard let value = try Handle.downloader(downloader).headerFields[name] else {
            throw Refusal(SDD_ERROR_NOT_FOUND)
        }
        let count = value.utf8.count
        length?.pointee = count
        guard let buffer, UInt(bitPattern: capacity) > UInt(count) else { throw Refusal(SDD_ERROR_BUFFER_TOO_SMALL) }
        value.withCString { _ = memcpy(buffer, $0, count + 1) }
    }
}

@_cdecl("sdd_set_max_concurrent_downloads") @implementation
public func sdd_set_max_concurrent_downloads(_ downloader: OpaquePointer?, _ count: Int32) -> sdd_status {
    status { () throws(Refusal) in
        guard count > 0 else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
        try Handle.downloader(downloader).setMaxConcurrentDownloads(Int(count))
    }
}

/// A downloader over libcurl, with the header fields every one begins with.
func makeDownloader(_ configuration: DownloaderConfiguration) throws(SystemError) -> Downloader {
    var fields = HTTPFields()
    fields.set("Accept", to: "image/*,*/*;q=0.8")
    fields.set("User-Agent", to: userAgent)
    return try Downloader.make(
        configuration, fields: fields, transport: CurlTransport(configuration: configuration.transport))
}

private let userAgent: String = {
    var system = utsname()
    guard uname(&system) == 0 else { return "libsdd/0.1.0 curl/\(CurlTransport.curlVersion())" }
    return "libsdd/0.1.0 (\(text(&system.sysname)); \(text(&system.machine))) curl/\(CurlTransport.curlVersion())"
}()

/// The ASCII text in one of uname's arrays.
private func text<CharArray>(_ field: inout CharArray) -> String {
    withUnsafeBytes(of: &field) { String(decoding: $0.prefix { $0 != 0 && $0 < 0x7f }, as: UTF8.self) }
}
