internal import CSDD
internal import SDDBase
internal import SDDEngine

/// The kinds of the last plain requests of a client: an application makes most of its requests in the same few ways. A
/// value type.
struct PlainKinds {
    /// All of a request but its URL and user data: two requests with the same are of one kind.
    struct Key: Equatable {
        private let options: sdd_options
        private let priority: sdd_priority
        // The addresses of its functions.
        private let completed, progress, preview, facts, free: UInt

        /// - Returns: nil if the request has more of its own.
        init?(_ request: sdd_download_request) {
            guard request.transfer == nil, request.decode == nil, request.integrity == nil, request.method == nil,
                request.range == nil, request.body == nil, request.body_size == 0, request.expected_bytes == 0,
                request.sink == 0
            else { return nil }
            options = request.options
            priority = request.priority
            (completed, progress) = (address(request.completed), address(request.progress))
            (preview, facts) = (address(request.preview), address(request.facts))
            free = address(request.user_data_free)
        }
    }

    /// A kind; `kind` is nil if requests of the key are not plain.
    struct Kind {
        let kind: PlainKind?

        init(_ request: sdd_download_request, _ defaults: RequestDefaults, hasEvents: Bool) {
            guard case .success(let spec) = request.download(nil, for: .download, hasEvents: hasEvents) else {
                kind = nil
                return
            }
            // Safety: only the addresses of functions are read from the copy.
            nonisolated(unsafe) let request = request
            kind = PlainKind(spec, defaults) { url, userData in
                RequestCallbacks(request, url: url, userData: userData)
            }
        }
    }

    private var kinds: [(key: Key, kind: Kind)] = []

    /// The most kinds that are remembered.
    private static let most = 8

    subscript(key: Key) -> Kind? { kinds.first { $0.key == key }?.kind }

    /// - Returns: the kind that is forgotten for it, if one is.
    mutating func add(_ kind: Kind, for key: Key) -> Kind? {
        let oldest = kinds.count < Self.most ? nil : kinds.removeFirst().kind
        kinds.append((key, kind))
        return oldest
    }
}

/// Returns the address of a function of the application, for comparison.
private func address<Function>(_ function: Function?) -> UInt {
    // Safety: an optional C function has the size of a pointer, and NULL for nil.
    unsafeBitCast(function, to: UInt.self)
}
