internal import CCurl
internal import SDDBase

// MARK: - The end of a hop

extension CurlTransfer {
    /// Interprets libcurl's result for the hop: another hop follows, or the transfer ends, with the body if it
    /// succeeded.
    func conclude(_ code: CURLcode) -> Conclusion {
        measure()
        if let reason = hop.leavesConnection {
            progress.wantsNewConnection = true
            return .startsOver(reauthorized(request), because: reason)
        }
        if isNotProcessed(code) { return refused(code) }
        learnAuthorization()
        learnAlternatives(works: code == CURLE_OK || reader.refusal != nil)
        if leavesHTTP3(code) { return .startsOver(reauthorized(request), because: TransferMessages.leavesHTTP3) }
        if mayBeLeftPacked(code) {
            progress.leavesPacked = true
            return .startsOver(reauthorized(request), because: TransferMessages.leavesPacked)
        }
        // The rest of a discarded response does not matter, and neither does libcurl's result.
        guard reader.refusal == nil, reader.isPassedOver else { return .ended(end(failure(code))) }
        if reader.startsOver {
            // Without a resume point no response can make it start over again.
            var whole = request
            whole.resume = nil
            return .startsOver(reauthorized(whole), because: TransferMessages.startsOver)
        }
        if let refusal = reader.authorizationRefusal {
            return .startsOver(changed(by: refusal), because: TransferMessages.isChallenged)
        }
        guard let location = reader.location, let head = reader.head else { return .ended(end(failure(code))) }
        do throws(TransportError) {
            let next = try progress.redirects.follow(location, status: head.response.status, from: request)
            progress.lastResponse = head.response
            progress.measures.addRedirect()
            return .redirected(reauthorized(next))
        } catch {
            return .ended(end(error))
        }
    }

    /// Whether the server did not process the request, so that it may be sent again whatever its method: RFC 9113 §8.7.
    private func isNotProcessed(_ code: CURLcode) -> Bool {
        guard code != CURLE_OK, reader.refusal == nil || hop.hasGivenUp, maySpeakHTTP2, !hop.hasHeader else {
            return false
        }
        if wasSentTooEarly(code) { return true }
        if hop.way == .http3, hop.hasJoined, hop.repeats == 0, progress.refusals == 0, isLostUnanswered(code) {
            return true
        }
        // A request that joined a failing connection is sent again only once, on a new connection.
        if witness.isFlooded { return hop.hasJoined && progress.refusals == 0 && request.isIdempotent }
        if mayBeLeftBehind(code) { return true }
        return witness.isNotProcessed(
            isLikely: request.isIdempotent && (hop.hasGivenUp || outcome(code).mayHaveGoneAway))
    }

    /// Whether the server may have closed the connection before it saw the request: others had it before, or libcurl could
    /// not send, or says that an HTTP/2 connection ended in order. The second time the request has a connection of its own
    /// (`refused`), and is not repeated.
    private func mayBeLeftBehind(_ code: CURLcode) -> Bool {
        if hop.hasGivenUp { return hop.isLeftBehind }
        let isCutOff = [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE].contains(code)
        guard isCutOff, hop.isUnanswered, request.isIdempotent else { return false }
        return hop.hasJoined || surroundings.news.hasAnswered(on: hop.port)
            || code != CURLE_RECV_ERROR && progress.refusals == 0
    }

    /// Whether libcurl had nothing to send the request with. 7.88 takes a connection for one that can be shared while its
    /// tunnel through a proxy is being made. A request that must not be sent twice is one of which it has sent no byte.
    private func wasSentTooEarly(_ code: CURLcode) -> Bool {
        code == CURLE_FAILED_INIT && hop.isUnanswered
            && (request.isIdempotent || easy.number(CURLINFO_REQUEST_SIZE) == 0)
    }

    private func refused(_ code: CURLcode) -> Conclusion {
        progress.refusals += 1
        // All of many transfers that lost one connection wait for the new one of the first.
        progress.wantsNewConnection =
            progress.refusals > 1 || wasSentTooEarly(code) || surroundings.news.isFirst(toReplace: hop.port)
        if progress.refusals <= Progress.mostRefusals { return .asksAgain(request) }
        if hop.way != .usual {
            learnAlternatives(works: false)
            return .startsOver(request, because: TransferMessages.leavesHTTP3)
        }
        var error = TransportError.notProcessed(host: outcome(code).host, times: progress.refusals)
        error.curlCode = Int32(code.rawValue)
        return .ended(end(error))
    }

    /// Ends the transfer because a time limit has expired.
    func endOfPatience(_ kind: TransportError.Kind) -> TransferEnd {
        measure()
        learnAlternatives(works: false)
        // libcurl would reuse the connection for the next request, which over HTTP/2 may wait as long for a server that
        // is gone.
        if kind == .stall || kind == .firstByteTimeout || kind == .tooSlow, isAloneOnConnection { witness.abandon() }
        var error = TransportError.expired(
            kind, after: progress.clocks.limit(of: kind), host: outcome(CURLE_OPERATION_TIMEDOUT).host)
        error.curlCode = Int32(CURLE_OPERATION_TIMEDOUT.rawValue)
        return end(error)
    }

    /// Ends the transfer with an error of our own, without a result from libcurl.
    func endWithout(_ error: TransportError) -> TransferEnd {
        measure()
        return end(error)
    }

    /// Whether libcurl failed at a content coding that it does not know, before it delivered a byte of the body. Later
    /// versions than 7.88 choose their decoders before the header is delivered, too early for `ResponseReader` to turn
    /// them off.
    private func mayBeLeftPacked(_ code: CURLcode) -> Bool {
        code == CURLE_BAD_CONTENT_ENCODING && reader.hasUnknownCoding && reader.refusal == nil && request.isIdempotent
            && !progress.leavesPacked
    }

    /// Adds what libcurl has measured of the hop.
    func addHop(to measures: inout TransferMeasures) {
        measures.add(easy, bodyCount: request.body?.count ?? 0, wasSent: hop.wasSent)
    }

    private func measure() {
        addHop(to: &progress.measures)
        progress.cookieCount += reader.cookieCount
    }

    private func end(_ failure: TransportError?) -> TransferEnd {
        var failure = failure
        failure?.isUnsent = !hop.wasSent
        if failure == nil { reader.endedWell() }
        var metrics = progress.measures.metrics
        metrics.handedOutBytes = Int64(reader.count - bytesNotSunk)
        metrics.resumedBytes = reader.resumedBytes
        return TransferEnd(
            result: failure.map { .failure($0) } ?? .success(reader.takeBody()),
            response: reader.head?.response ?? progress.lastResponse,
            timings: progress.measures.timings, metrics: metrics,
            isEndProven: failure != nil || reader.isEndProven)
    }

    private func failure(_ code: CURLcode) -> TransportError? {
        // Our own refusal takes precedence, because libcurl only knows that a callback failed.
        if var refusal = reader.refusal {
            refusal.curlCode = Int32(code.rawValue)
            return refusal
        }
        if reader.hasBeenAskedEnough { return nil }
        // A success needs none of the facts that a failure is told by.
        if code == CURLE_OK { return reader.flaw(at: outcome(code).host) ?? cut() }
        let outcome = outcome(code)
        if code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR, maySpeakHTTP2 { witness.abandon() }
        guard witness.isFlooded else { return outcome.error }
        var error = TransportError.flood(host: outcome.host)
        error.curlCode = Int32(code.rawValue)
        return error
    }

    /// Returns an error if libcurl took the end of the connection for the end of the body.
    private func cut() -> TransportError? {
        reader.isOverHTTP2 && !reader.isEndProven && witness.isBroken
            ? .cutStream(host: outcome(CURLE_OK).host) : nil
    }

    func outcome(_ code: CURLcode) -> CurlOutcome {
        CurlOutcome(
            code: code, easy: easy, request: request, words: easy.words, socketError: hop.socketError,
            configuration: options.configuration, environment: options.environment,
            isConnected: hop.isConnected, hasHead: reader.head != nil,
            refusedAddress: hop.hasOpenedSocket ? nil : hop.refusedAddress)
    }
}

// MARK: - HTTP/3

extension CurlTransfer {
    /// Whether the request starts over by TCP: there is no connection by HTTP/3, or it was of no use. A request that
    /// joined a connection has met a new one before.
    private func leavesHTTP3(_ code: CURLcode) -> Bool {
        guard hop.way != .usual, code != CURLE_OK else { return false }
        if !hop.isConnected {
            return hop.way == .http3 && reader.refusal == nil && (request.isIdempotent || !hop.isUnanswered)
        }
        return isLostUnanswered(code) && !witness.isFlooded
    }

    /// Whether the connection was lost before a byte of the response, and the request may be sent again. libcurl sends
    /// a request on a QUIC connection that the server has closed meanwhile, and fails.
    private func isLostUnanswered(_ code: CURLcode) -> Bool {
        guard hop.isUnanswered, request.isIdempotent else { return false }
        if reader.refusal != nil { return hop.hasGivenUp }
        return [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP3].contains(code)
    }

    /// Remembers what the hop says about HTTP/3 at its origin.
    /// - Parameter works: The connection did what it should.
    private func learnAlternatives(works: Bool) {
        guard options.mayUseHTTP3(for: request) else { return }
        let now = surroundings.time.monotonicMicroseconds()
        if hop.way != .usual {
            let works = works && easy.httpVersion == 30
            options.alternatives.withLock { $0.ended(request.hostKey, works: works, at: now) }
        }
        guard let values = reader.head?.response.fields.values(of: "Alt-Svc"), !values.isEmpty,
            let url = URLParts(request.url.text)
        else { return }
        options.alternatives.withLock {
            $0.learn(request.hostKey, values, host: url.host, port: url.port, at: now)
        }
    }
}

// MARK: - Passwords that servers have accepted

extension CurlTransfer {
    private func reauthorized(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        options.knownSpaces.authorize(&request)
        return request
    }

    /// Returns the request that follows on a 401 to a request with an authorization.
    private func changed(by refusal: Authorization.Refusal) -> HTTPRequest {
        var next = request
        next.authorization = nil
        progress.answeredChallenges = []
        if case .asksFor(let challenge) = refusal, options.knownSpaces.answer(challenge, &next) {
            progress.answeredChallenges = reader.challenges
        }
        return next
    }

    /// Remembers or forgets what the server's response says about the password of the request.
    private func learnAuthorization() {
        guard let credential = request.options.values.credential, credential.username != nil,
            let response = reader.head?.response
        else { return }
        if response.status == 401 {
            if request.authorization != nil { options.knownSpaces.forget(request) }
            return
        }
        switch request.authorization?.proof {
        case nil:
            let scheme = reader.challenges.isEmpty ? [] : credential.schemes.taken(easy)
            options.knownSpaces.learn(request, response, answered: reader.challenges, with: scheme)
        case .answer:
            options.knownSpaces.learn(request, response, answered: progress.answeredChallenges, with: .digest)
        case .basic, .digest: options.knownSpaces.learn(request, response, answered: [], with: [])
        }
    }
}
