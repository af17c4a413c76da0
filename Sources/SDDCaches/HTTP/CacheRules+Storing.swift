package import SDDBase

/// What is stored: RFC 9111 §3. Pure.
extension CacheRules {
    /// Whether this response to this request is worth an entry.
    /// - Parameter isComplete: all of its body came, as long as it was said to be.
    package static func stores(
        _ request: CacheableRequest, status: Int32, fields: ResponseFields, isComplete: Bool
    ) -> Bool {
        guard isComplete, !request.isBeyondCaches, !request.cacheControl.isNoStore, isStorable(status) else {
            return false
        }
        let control = CacheControl(fields)
        return isKept(status, control) && names(inVaryOf: fields) != nil
            && (control.isPublic || control.isPrivate || control.maxAge != nil || fields.value(of: "Expires") != nil
                || isHeuristicallyCacheable(status))
    }

    /// Whether a stored response may stay: a 304 can have added what forbids that. One that depends on everything
    /// (§4.1) could stay, but never be used.
    package static func mayBeKept(_ stored: StoredResponse) -> Bool {
        isKept(stored.status, stored.cacheControl) && names(inVaryOf: stored.fields) != nil
    }

    /// §5.2.2.3: who understands the status does as that says, whatever no-store says to others.
    static func isKept(_ status: Int32, _ control: CacheControl) -> Bool {
        control.mustUnderstand ? isUnderstood(status) : !control.isNoStore
    }

    /// - Parameters:
    ///   - request: the one that was answered, with the fields as they were sent.
    ///   - url: that which answered.
    ///   - requestTime: when it was sent.
    ///   - family: that of the URL's own entry, if this becomes a variant beside it; else a new number.
    /// - Returns: nil when there is no memory, or it could never be used.
    package static func makeStored(
        _ request: CacheableRequest, status: Int32, url: String, fields: ResponseFields, requestTime: Int64,
        responseTime: Int64, family: UInt64
    ) -> StoredResponse? {
        guard let names = names(inVaryOf: fields), let kept = StorableFields.kept(of: fields) else { return nil }
        return StoredResponse(
            status: status, url: url, fields: kept, requestTime: requestTime, responseTime: responseTime,
            selecting: selecting(names, in: request), family: family)
    }
}

// MARK: - Statuses

extension CacheRules {
    /// RFC 9110 §15.1, without 206, which is a part.
    static func isHeuristicallyCacheable(_ status: Int32) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Final ones (RFC 9110 §15), but not
    /// * 206 and 416, which speak of parts, nor 304 and 412, which answer questions;
    /// * 401 and 407: with the right password the answer is another;
    /// * 428, 429, 431 and 511: RFC 6585 says that they must not be stored.
    private static func isStorable(_ status: Int32) -> Bool {
        (200...599).contains(status) && ![206, 304, 401, 407, 412, 416, 428, 429, 431, 511].contains(status)
    }

    /// Those of RFC 9110 §15 that are stored.
    private static func isUnderstood(_ status: Int32) -> Bool {
        switch status {
        case 200...205, 300...303, 307, 308, 400...417, 421, 422, 426, 500...505: isStorable(status)
        default: false
        }
    }
}
