internal import CSDD
internal import SDDBase
internal import SDDCoders
internal import SDDEngine
internal import SDDTransport

/// How the common fields are read: once, into a `RequestSpec`.
extension RequestStruct {
    /// Reads the common fields.
    /// - Parameters:
    ///   - hasEvents: whether the application takes events.
    ///   - optionsPlace: the argument of a short call that `options` was in; `nil` for the field.
    func spec(
        for use: RequestOptions.Use, hasEvents: Bool, _ optionsPlace: Place? = nil
    ) throws(DownloadError) -> RequestSpec {
        let bits = RequestOptions(rawValue: options)
        do throws(RequestOptions.Flaw) {
            try bits.check(for: use, hasEvents: hasEvents)
        } catch {
            let place = optionsPlace ?? Self.place("options")
            throw DownloadError(.invalidOperation, .unknownOptions, "\(place.text): \(error.words).")
        }
        var made = RequestSpec(options: bits)
        made.priority = try specPriority()
        if decode != nil { made.form = try specForm() }
        made.wantsProgress = progress != nil || bits.contains(.progressEvents)
        made.wantsPreviews = preview != nil || bits.contains(.previewEvents)
        made.wantsFacts = facts != nil || bits.contains(.factsEvents)
        if integrity != nil || expected_bytes != 0 { made.check = try specCheck() }
        return made
    }

    private func specPriority() throws(DownloadError) -> Priority {
        do throws(Refusal) {
            return try SDD.priority(priority, Self.place("priority"))
        } catch {
            throw wrong(.badNumber, error)
        }
    }

    private func specForm() throws(DownloadError) -> DecodeOptions? {
        do throws(Refusal) {
            return try pixelForm(decode, Self.place("decode"))
        } catch {
            throw wrong(.badDecode, error)
        }
    }

    private func specCheck() throws(DownloadError) -> BodyCheck {
        guard expected_bytes >= 0 else {
            throw wrong(
                .badIntegrity, .number(Self.place("expected_bytes"), expected_bytes, allowed: "at least 0"))
        }
        let count = expected_bytes == 0 ? nil : expected_bytes
        guard integrity != nil else { return BodyCheck(sha256: nil, count: count) }
        guard let text = headerValue(integrity), let digest = sha256(text) else {
            throw wrong(
                .badIntegrity, Self.place("integrity"),
                "\(shown(integrity)) is not \"sha256-\" and a SHA-256 in base64 or hexadecimal digits")
        }
        return BodyCheck(sha256: digest, count: count)
    }

    /// Refuses callbacks of a call that waits.
    func refuseCallbacks() throws(Refusal) {
        func refuse(_ isSet: Bool, _ field: StaticString) throws(Refusal) {
            if isSet { throw callbackOfWait(Self.place(field)) }
        }
        try refuse(progress != nil, "progress")
        try refuse(completed != nil, "completed")
        try refuse(preview != nil, "preview")
        try refuse(facts != nil, "facts")
        try refuse(user_data_free != nil, "user_data_free")
    }
}

/// Returns the refusal of a callback of a call that waits.
func callbackOfWait(_ place: Place) -> Refusal {
    Refusal(SDD_ERROR_INVALID_ARGUMENT, place, "it must be NULL: the call waits, and makes no callbacks")
}
