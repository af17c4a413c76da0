internal import SDDBase

/// Easy handles of plain requests that ended well, for later requests of the same shape: making and setting up a handle
/// is a tenth of a small request. The handles of all other hops are used once, because what libcurl keeps of a response
/// in its handle could change the next one (docs/libcurl-state.md).
/// thread: sdd-net
struct KeptHandles {
    private var handles: [EasyHandle] = []
    /// A handle has some 6 KB.
    private static let most = 8

    /// Returns a handle for requests of this shape, and forgets it; `nil` if there is none.
    mutating func take(for shape: HandleShape) -> EasyHandle? {
        handles.lastIndex { $0.shape == shape }.map { handles.remove(at: $0) }
    }

    /// Keeps a handle that libcurl's multi handle has released after a complete response, unless it has no shape.
    mutating func keep(_ easy: EasyHandle) {
        guard easy.shape != nil else { return }
        // Requests of another shape are made now.
        if handles.count == Self.most { handles.removeFirst() }
        handles.append(easy)
    }
}

extension HandleShape {
    /// - Returns: `nil` if the handle of the request must not be kept: it has options that few requests have, or libcurl
    ///   has a fault that forbids it.
    init?(
        _ request: HTTPRequest, priority: Priority, _ options: CurlOptions,
        mayBeKept: Bool = CurlFeatures.mayKeepHandles
    ) {
        guard mayBeKept, priority == .normal, request.method == "GET", request.body == nil else { return nil }
        let values = request.options.values
        guard
            request.scheme.isHTTP, values.verifiesCertificate, !values.usesCookies,
            values.credential == nil, !request.url.hasUserinfo, values.caFile == nil,
            options.isDirect(request.scheme), !options.mayUseHTTP3(for: request)
        else { return nil }
        self.init(scheme: request.scheme, connectLimit: values.clocks.connect, staysPacked: values.staysPacked)
    }
}
