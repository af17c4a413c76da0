import Glibc
import SDDBase
import SDDCoders
import SDDTransport
import Testing

@testable import SDDEngine

/// Sample requests and responses for the tests of the engine.
enum Sample {
    /// Parses a URL; the test fails if it is invalid.
    static func url(_ text: String, others: [String] = []) throws -> ImageURL {
        var text = text
        return try text.withUTF8 { try ImageURL(checking: $0, allowsFiles: true, others: others) }
    }

    static func request(_ url: String, others: [String] = []) throws -> DownloadRequest {
        DownloadRequest(transfer: HTTPRequest(url: try Self.url(url, others: others)))
    }

    /// - Returns: nil if the request has more of its own than a URL.
    static func plain(_ request: DownloadRequest) -> PlainRequest? {
        guard request.isShareable, request.anyLookup == nil, request.keeper == nil, request.pixelKeeper == nil,
            request.search == nil, !request.isStage, !request.isPrompt, request.form.isPossible,
            request.transfer.appTransport == nil, request.transfer.url.text.utf8.count <= ImageURL.maxLength
        else { return nil }
        let kind = PlainKind(request, RequestDefaults(allowsFiles: true)) { text, _ in
            text.free()
            return NoCallbacks()
        }
        var url = request.transfer.url.text
        return url.withUTF8 { try? PlainRequest(kind, url: $0, userData: UserData(nil)) }
    }

    private final class NoCallbacks: AppCallbacks {
        func completed(_ result: DownloadResult, token: UInt64) {}
    }

    /// Makes the fields of a request by which servers tell persons apart.
    static func person(_ name: String) -> HTTPFields {
        var fields = HTTPFields()
        fields.set("X-Person", to: name)
        return fields
    }

    static func response(_ status: Int32 = 200, type: String = "image/png") -> Response {
        Response(status: status, url: "http://host/", fields: fields(type: type))
    }

    /// Makes the fields of a response with that media type; "" for none.
    static func fields(type: String) -> ResponseFields {
        guard !type.isEmpty else { return ResponseFields() }
        var builder = ResponseFieldsBuilder()
        let name = Array("Content-Type".utf8)
        let isKept = name.withUnsafeBytes { name in
            Array(type.utf8).withUnsafeBytes { builder.append(name: name, value: $0) }
        }
        return isKept ? builder.take() : ResponseFields()
    }

    /// Makes a body of that size with arbitrary bytes.
    static func body(_ size: Int) -> Bytes { Bytes(adopting: size > 0 ? calloc(size, 1) : nil, count: size) }

    static func body(_ bytes: [UInt8]) throws -> Bytes {
        try #require(bytes.withUnsafeBytes { Bytes(copying: $0) })
    }

    static func handler(_ token: UInt64, _ request: DownloadRequest) -> Job<NumberedListener>.Handler {
        Job<NumberedListener>.Handler(token: token, NumberedListener(token), request, maxAttempts: 1, since: 0)
    }

    /// A job with one handler.
    static func job(
        _ id: TransferID, _ url: String, token: UInt64 = 0, priority: Priority = .normal, isPrompt: Bool = false,
        stage: Job<NumberedListener>.Stage = .running, change: (inout DownloadRequest) -> Void = { _ in }
    ) throws -> Job<NumberedListener> {
        var request = try request(url)
        change(&request)
        request.priority = priority
        request.isPrompt = isPrompt
        return Job(id: id, request, handler(token, request), stage)
    }

    static func acceptance(statuses: String? = nil, types: String? = nil) throws -> Acceptance {
        try #require(Acceptance(statuses: statuses, types: types))
    }

    /// Makes body work without an effect; equal if the number is.
    static func bodyWork(_ number: UInt, modifies: Bool = false, transforms: Bool = false) -> BodyWork {
        let modifier: BodyWork.Modifier = { .init($0.status, $0.fields.mimeType) }
        let transform: BodyWork.Transform = { bytes, _ in bytes }
        return BodyWork(
            modifier: modifies ? modifier : nil, transform: transforms ? transform : nil, identity: [number])
    }
}

/// A command to a transport in a comparable form.
enum Order: Equatable {
    case start(UInt64, Priority)
    case cancel(UInt64)
    case pause(UInt64)
    case resume(UInt64)
    case setPriority(UInt64, Priority)
    case show(UInt64)

    init(_ command: TransportCommand) {
        switch command {
        case .start(let id, _, let priority): self = .start(id.number, priority)
        case .cancel(let id): self = .cancel(id.number)
        case .pause(let id): self = .pause(id.number)
        case .resume(let id): self = .resume(id.number)
        case .setPriority(let id, let priority): self = .setPriority(id.number, priority)
        case .show(let id): self = .show(id.number)
        }
    }
}

extension [Order] {
    var started: [UInt64] { compactMap { if case .start(let id, _) = $0 { id } else { nil } } }
    var cancelled: [UInt64] { compactMap { if case .cancel(let id) = $0 { id } else { nil } } }
}

extension Image {
    /// Returns the pixels of a picture that can be decoded. The process ends here if there is no memory for them.
    var pixels: PixelBuffer { (try? decoded()) ?? PixelBuffer(width: 1, height: 1)! }
}

/// The listener of a request in tests of state machines, which only pass it on.
final class NumberedListener: Sendable {
    let token: UInt64

    init(_ token: UInt64) { self.token = token }
}
