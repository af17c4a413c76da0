import SDDBase

@testable import SDDCaches

/// Input for the rules of HTTP caching from servers, callers and the disk: dates, directives, stored responses.
@_cdecl("fuzz_http")
public func fuzzHTTP(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let bytes, count > 1 else { return Verdict.rejected }
    // The copy has its own memory, so that the sanitizer detects reads past its end.
    guard let copy = Bytes(copying: UnsafeRawBufferPointer(start: bytes + 1, count: count - 1)) else {
        return Verdict.rejected
    }
    switch bytes[0] & 3 {
    case 0: checkDate(copy.pointer, now: Int64(bytes[0]) << (bytes[0] >> 2))
    case 1: checkDirectives(String(decoding: copy.pointer, as: UTF8.self))
    case 2: checkMessages(String(decoding: copy.pointer, as: UTF8.self))
    default: checkStored(copy.pointer)
    }
    return Verdict.interesting
}

/// Checks that a valid date is the same when it is written and parsed again.
private func checkDate(_ bytes: UnsafeRawBufferPointer, now: Int64) {
    guard let time = HTTPDate.parse(bytes, now: now) else { return }
    guard HTTPDate.parse(HTTPDate.text(time).utf8, now: now) == time else { finding("another date") }
}

private func checkDirectives(_ text: String) {
    let control = CacheControl([text])
    let numbers = [control.maxAge ?? 0, control.staleIfError, control.staleWhileRevalidate]
    guard numbers.allSatisfy({ (0...DeltaSeconds.largest).contains($0) }) else { finding("too many seconds") }
    guard control.minFresh ?? 0 >= 0, control.maxStale ?? 0 >= 0 else { finding("negative seconds") }
    _ = (control.needsValidation, control.withheldFields, control.asksForValidation, control.isOnlyIfCached)
    guard CacheControl([text + ", no-store"]).isNoStore else { finding("garbage hides no-store") }
}

/// Uses lines of a response and, after an empty line, those of a request.
private func checkMessages(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let response = lines.prefix { !$0.isEmpty }.map(parts)
    var headers = HTTPFields()
    for line in lines.dropFirst(response.count) { headers.set(parts(line).name, to: parts(line).value) }
    let request = CacheableRequest(url: "http://a.test/", headers: headers)
    guard let fields = ResponseFields(response) else { return }
    _ = CacheRules.stores(request, status: 200, fields: fields, isComplete: true)
    let stored = CacheRules.makeStored(
        request, status: 200, url: "http://a.test/", fields: fields, requestTime: 0, responseTime: 1, family: 0)
    guard let stored else { return }
    guard CacheRules.selects(stored, request) else { finding("a response that its own request does not select") }
    stored.encoded().withUnsafeBytes { checkStored($0) }
    check(stored, request, now: 60)
    let part = CacheRules.makePart(
        request, url: "http://a.test/", fields: fields, bodyCount: text.utf8.count & 15, requestTime: 0,
        responseTime: 1)
    guard let part else { return }
    part.encoded().withUnsafeBytes { checkParts($0, request) }
    if let (joined, _) = part.joined(with: part, as: part.response), joined.pieces != part.pieces {
        finding("the same part twice is another")
    }
}

private func parts(_ line: Substring) -> (name: String, value: String) {
    let colon = line.firstIndex(of: ":") ?? line.endIndex
    return (String(line[..<colon]), String(line[colon...].dropFirst(2)))
}

/// Checks that parts are written as they were read, and that what they serve is theirs.
private func checkParts(_ bytes: UnsafeRawBufferPointer, _ request: CacheableRequest) {
    guard let parts = StoredParts(decoding: bytes) else { return }
    guard parts.encoded().elementsEqual(bytes) else { finding("other stored parts") }
    guard let served = request.range.flatMap({ parts.served($0) }) else { return }
    guard let place = parts.place(of: served.bounds), Int64(place.upperBound) <= parts.byteCount else {
        finding("a range outside of the parts")
    }
    _ = CacheRules.servedFields(parts.response, age: 0, part: served)
}

/// Checks that a stored response is written as it was read.
private func checkStored(_ bytes: UnsafeRawBufferPointer) {
    checkParts(bytes, CacheableRequest(url: "http://a.test/"))
    guard let stored = StoredResponse(decoding: bytes) else { return }
    guard stored.encoded().elementsEqual(bytes) else { finding("another stored response") }
    check(stored, CacheableRequest(url: stored.url), now: stored.requestTime)
}

private func check(_ stored: StoredResponse, _ request: CacheableRequest, now: Int64) {
    let freshness = Freshness(of: stored, now: now)
    guard freshness.age >= 0, freshness.lifetime >= 0 else { finding("a negative age") }
    if case .fresh = CacheRules.answer(to: request, stored: stored, now: now) {
        guard freshness.isFresh, !stored.cacheControl.needsValidation else { finding("stale, but used as fresh") }
    }
    _ = CacheRules.variantKey(varyOf: stored, request)
    _ = CacheRules.servedFields(stored, age: freshness.age)
    _ = CacheRules.freshened(stored, by: stored.fields, for: request, requestTime: now, responseTime: now)
}
