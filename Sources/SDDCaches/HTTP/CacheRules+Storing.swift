package import SDDBase

/// Rules for storing responses: RFC 9111 §3. Pure.
extension CacheRules {
    /// Whether the response to this request may be stored.
    /// - Parameter isComplete: whether the whole body was received, as long as it was announced.
    package static func stores(
        _ request: CacheableRequest, status: Int32, fields: ResponseFields, isComplete: Bool
    ) -> Bool {
        // Only a 200 is what the request would have got without its Range as well.
        guard isComplete, !request.isBeyondCaches, !request.cacheControl.isNoStore, isStorable(status),
            status == 200 || request.range == nil
        else { return false }
        let control = CacheControl(fields)
        return isKept(status, control) && Vary.names(in: fields) != nil
            && (control.isPublic || control.isPrivate || control.maxAge != nil || fields.value(of: "Expires") != nil
                || isHeuristicallyCacheable(status))
    }

    /// Whether a stored response may remain stored: a 304 may have added a directive that forbids it. A response with
    /// "Vary: *" (§4.1) may be stored but can never be used.
    package static func mayBeKept(_ stored: StoredResponse) -> Bool {
        isKept(stored.status, stored.cacheControl) && Vary.names(in: stored.fields) != nil
    }

    /// Whether a response that is not stored replaces the stored one that was asked about, so that this must go. The other
    /// statuses speak of the request, or of the server at this moment.
    package static func withdraws(status: Int32) -> Bool {
        (200...499).contains(status) && ![206, 304, 401, 407, 408, 412, 416, 421, 425, 429].contains(status)
    }

    /// Whether the directives permit keeping the response. With must-understand the cache must understand the status,
    /// and no-store is ignored (§5.2.2.3).
    static func isKept(_ status: Int32, _ control: CacheControl) -> Bool {
        control.mustUnderstand ? isUnderstood(status) : !control.isNoStore
    }

    /// Makes the stored form of a response.
    /// - Parameters:
    ///   - request: the request that was answered, with the fields as sent.
    ///   - url: the URL that answered.
    ///   - requestTime: the time the request was sent.
    ///   - family: the family of the URL's own entry if this becomes a variant of it; otherwise a new id.
    /// - Returns: nil if there is no memory, or the response could never be used.
    package static func makeStored(
        _ request: CacheableRequest, status: Int32, url: String, fields: ResponseFields, requestTime: Int64,
        responseTime: Int64, family: UInt64
    ) -> StoredResponse? {
        guard let names = Vary.names(in: fields), let kept = StorableFields.kept(of: fields) else { return nil }
        return StoredResponse(
            status: status, url: url, fields: kept, requestTime: requestTime, responseTime: responseTime,
            selecting: selecting(names, in: request), family: family)
    }
}

// MARK: - Statuses

extension CacheRules {
    /// Whether a status is heuristically cacheable (RFC 9110 §15.1), except 206, which is a partial response.
    static func isHeuristicallyCacheable(_ status: Int32) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Whether a response with this status may be stored: final statuses (RFC 9110 §15), except
    /// * 206 and 416, which concern ranges, and 304 and 412, which answer conditional requests;
    /// * 401 and 407, since the answer with valid credentials is different;
    /// * 428, 429, 431 and 511, which must not be stored (RFC 6585).
    private static func isStorable(_ status: Int32) -> Bool {
        (200...599).contains(status) && ![206, 304, 401, 407, 412, 416, 428, 429, 431, 511].contains(status)
    }

    /// Whether a status is defined in RFC 9110 §15 and may be stored.
    private static func isUnderstood(_ status: Int32) -> Bool {
        switch status {
        case 200...205, 300...303, 307, 308, 400...417, 421, 422, 426, 500...505: isStorable(status)
        default: false
        }
    }
}
