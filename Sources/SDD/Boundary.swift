internal import CSDD
internal import Glibc
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

// What comes in from C, checked and copied: the only place where a caller's structs and strings are read.

/// A call is refused, with the status it returns.
struct Refusal: Error {
    let status: sdd_status

    init(_ status: Int) { self.status = sdd_status(status) }
}

/// The status a call returns.
func status(of body: () throws(Refusal) -> Void) -> sdd_status {
    do throws(Refusal) {
        try body()
        return sdd_status(SDD_OK)
    } catch {
        return error.status
    }
}

// MARK: - Sized structs

/// No struct of ours will ever be larger: a `struct_size` beyond is not a size.
private let largestStruct = 4096

/// Copies a caller's struct, which may be shorter than ours (the rest stays zero) or longer (when what we
/// do not know is zero).
/// - Parameters:
///   - value: all zeros.
///   - minimum: bytes without which the struct means nothing.
func read<Struct>(
    _ source: UnsafePointer<Struct>?, into value: inout Struct, minimum: Int
) throws(Refusal) {
    guard let source else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    // Safety: every sized struct begins with its size_t struct_size, which says how far it may be read.
    let bytes = UnsafeRawPointer(source)
    let size = bytes.loadUnaligned(as: Int.self)
    guard size >= minimum else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    guard size <= largestStruct else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    let known = MemoryLayout<Struct>.size
    if size > known {
        let unknown = UnsafeRawBufferPointer(start: bytes + known, count: size - known)
        guard unknown.allSatisfy({ $0 == 0 }) else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    }
    withUnsafeMutableBytes(of: &value) { $0.copyMemory(from: .init(start: bytes, count: min(size, known))) }
}

/// What the ..._init() functions do: zeros, and the size in front.
func initialize(_ target: UnsafeMutableRawPointer?, size: Int) throws(Refusal) {
    guard let target, size >= MemoryLayout<Int>.size, size <= largestStruct else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    memset(target, 0, size)
    target.storeBytes(of: size, as: Int.self)
}

// MARK: - Strings

/// Longest header name or value that is taken.
private let longestField = 65_536

/// The bytes before the NUL; nil for NULL. Looks no further than `limit` + 1 bytes.
private func text(_ string: UnsafePointer<CChar>?, limit: Int) -> UnsafeBufferPointer<UInt8>? {
    guard let string else { return nil }
    return string.withMemoryRebound(to: UInt8.self, capacity: 1) {
        UnsafeBufferPointer(start: $0, count: strnlen(string, limit + 1))
    }
}

func headerName(_ string: UnsafePointer<CChar>?) -> String? {
    guard let bytes = text(string, limit: longestField), bytes.count <= longestField, HTTPFields.isToken(bytes)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
}

func headerValue(_ string: UnsafePointer<CChar>) -> String? {
    guard let bytes = text(string, limit: longestField), bytes.count <= longestField, HTTPFields.isValue(bytes)
    else { return nil }
    return String(validating: bytes, as: UTF8.self)
}

/// A path of the file system.
private func path(_ string: UnsafePointer<CChar>?) throws(Refusal) -> String? {
    guard let string else { return nil }
    guard let path = String(validatingCString: string), !path.isEmpty else {
        throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
    return path
}

// MARK: - Requests

private let knownOptions = UInt64(
    SDD_OPTION_LOW_PRIORITY | SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES | SDD_OPTION_HIGH_PRIORITY
        | SDD_OPTION_BYTES_ONLY | SDD_OPTION_PROGRESS_EVENTS)

private func has(_ option: Int, in options: UInt64) -> Bool { options & UInt64(option) != 0 }

/// Makes of a caller's request one of ours, or the error it will end with.
func makeRequest(_ request: sdd_request, for downloader: Downloader) -> Result<DownloadRequest, DownloadError> {
    do throws(DownloadError) {
        let options = request.options
        guard options & ~knownOptions == 0 else {
            throw DownloadError(
                .invalidOperation, .unknownOptions,
                "The request has option bits that this version of libsdd does not know.")
        }
        let url = try url(request.url, allowsFiles: downloader.configuration.transport.allowsFiles)
        let method = try method(request.method)
        let transfer = HTTPRequest(
            url: url, method: method, headers: try headers(request, over: downloader.headerFields),
            body: try body(request, method: method),
            verifiesCertificate: !has(SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES, in: options))
        return .success(
            DownloadRequest(
                transfer: transfer, priority: priority(options),
                wantsPixels: !has(SDD_OPTION_BYTES_ONLY, in: options),
                wantsProgress: request.progress != nil || has(SDD_OPTION_PROGRESS_EVENTS, in: options)))
    } catch {
        return .failure(error)
    }
}

private func priority(_ options: UInt64) -> Priority {
    if has(SDD_OPTION_HIGH_PRIORITY, in: options) { return .high }
    return has(SDD_OPTION_LOW_PRIORITY, in: options) ? .low : .normal
}

private func url(_ string: UnsafePointer<CChar>?, allowsFiles: Bool) throws(DownloadError) -> ImageURL {
    guard let bytes = text(string, limit: ImageURL.maxLength) else {
        throw DownloadError(ImageURL.Flaw.missing)
    }
    do throws(ImageURL.Flaw) {
        return try ImageURL(checking: bytes, allowsFiles: allowsFiles)
    } catch {
        throw DownloadError(error)
    }
}

extension DownloadError {
    init(_ flaw: ImageURL.Flaw) {
        switch flaw {
        case .empty: self.init(.invalidURL, .urlEmpty, "The URL is empty.")
        case .tooLong:
            self.init(.invalidURL, .urlTooLong, "The URL is longer than \(ImageURL.maxLength) bytes.")
        case .notUTF8: self.init(.invalidURL, .urlNotUTF8, "The URL is not UTF-8; percent-encode its other bytes.")
        case .malformed:
            self.init(
                .invalidURL, .urlMalformed,
                "The URL is malformed: it must be absolute, as http://host/path, in ASCII up to the path, without spaces."
            )
        case .missing: self.init(.invalidURL, .urlNull, "The URL is NULL.")
        case .scheme:
            self.init(
                .invalidURL, .urlScheme,
                "The URL's scheme is not http or https (file only where allow_file_urls of the config is 1).")
        }
    }
}

private func method(_ string: UnsafePointer<CChar>?) throws(DownloadError) -> String {
    guard let string else { return "GET" }
    guard let method = headerName(string) else {
        throw DownloadError(.invalidOperation, .badMethod, "The method is not an HTTP token, such as GET or POST.")
    }
    return method
}

private func headers(_ request: sdd_request, over defaults: HTTPFields) throws(DownloadError) -> HTTPFields {
    // A size_t beyond Int's range arrives as a negative number.
    guard request.header_count != 0 else { return defaults }
    guard let headers = request.headers, (1...1000).contains(request.header_count) else {
        throw DownloadError(
            .invalidOperation, .badHeader, "The request's headers are NULL with a count, or more than 1,000.")
    }
    var fields = defaults
    // Safety: the header of the library promises header_count of them.
    for header in UnsafeBufferPointer(start: headers, count: request.header_count) {
        guard let name = headerName(header.name) else {
            throw DownloadError(.invalidOperation, .badHeader, "A header's name is not an HTTP token.")
        }
        guard let value = header.value else {
            fields.set(name, to: nil)
            continue
        }
        guard let value = headerValue(value) else {
            throw DownloadError(
                .invalidOperation, .badHeader,
                "The value of the header \(name) has a control character, is too long, or is not UTF-8.")
        }
        fields.set(name, to: value)
    }
    return fields
}

private func body(_ request: sdd_request, method: String) throws(DownloadError) -> Bytes? {
    guard request.body_size != 0 else { return nil }
    guard let body = request.body, request.body_size > 0, method != "GET", method != "HEAD" else {
        throw DownloadError(
            .invalidOperation, .badBody, "The request's body is NULL with a size, or its method is GET or HEAD.")
    }
    guard let copy = Bytes(copying: UnsafeRawBufferPointer(start: body, count: request.body_size)) else {
        throw DownloadError(.invalidOperation, .badBody, "There is no memory for a copy of the request's body.")
    }
    return copy
}

// MARK: - Configuration

func makeConfiguration(_ config: sdd_downloader_config) throws(Refusal) -> DownloaderConfiguration {
    var made = DownloaderConfiguration()
    made.maxConcurrentDownloads = Int(try number(config.max_concurrent_downloads, default: 6, most: 100_000))
    made.maxPixels = Int(try number(config.max_pixels, default: 128 << 20, most: 1 << 40))
    made.decodeThreads = Int(
        try number(config.decode_threads, default: Int32(min(availableProcessors(), 8)), most: 256))
    made.transport.idleTimeoutMilliseconds = try number(config.download_timeout_ms, default: 15_000, most: 1 << 31)
    made.transport.maxBodyBytes = try number(config.max_body_bytes, default: 64 << 20, most: 1 << 46)
    made.transport.maxRedirects = try number(config.max_redirects, default: 10, most: 1000)
    made.transport.allowsFiles = try number(config.allow_file_urls, default: 0, most: 1) == 1
    made.transport.caFile = try path(config.ca_file)
    made.transport.caPath = try path(config.ca_path)
    guard config.reserved == 0 else { throw Refusal(SDD_ERROR_UNSUPPORTED) }
    made.delivery = try delivery(config)
    return made
}

/// 0 is the default; a negative number, or one beyond reason, is refused.
private func number<Number: FixedWidthInteger>(
    _ given: Number, default standard: Number, most: Number
) throws(Refusal) -> Number {
    guard given >= 0, given <= most else { throw Refusal(SDD_ERROR_INVALID_ARGUMENT) }
    return given == 0 ? standard : given
}

private func delivery(_ config: sdd_downloader_config) throws(Refusal) -> DownloaderConfiguration.DeliveryMode {
    switch Int(config.delivery) {
    case SDD_DELIVERY_HOST: return .host
    case SDD_DELIVERY_THREAD:
        let data = HostPointer(config.thread_user_data)
        let (start, stop) = (config.on_thread_start, config.on_thread_stop)
        return .thread(start: { start?(data.pointer) }, stop: { stop?(data.pointer) })
    default: throw Refusal(SDD_ERROR_INVALID_ARGUMENT)
    }
}

/// A pointer of the host's, which the library only hands back.
struct HostPointer: @unchecked Sendable {
    // Safety: never followed here; the host gave it to be given back on the callback thread.
    let pointer: UnsafeMutableRawPointer?

    init(_ pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}
