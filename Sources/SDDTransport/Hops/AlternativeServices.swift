import SDDBase

/// The origins that offer HTTP/3 by Alt-Svc (RFC 7838), and whether it works. Only an offer at the origin's own host
/// and port counts. A value; times are microseconds of a clock that never jumps.
struct AlternativeServices {
    /// A way to an origin.
    enum Way {
        /// Over TCP.
        case usual
        /// By HTTP/3 on a new connection, or over TCP if that answers first. One request of an origin takes it at a
        /// time.
        case trial
        /// By HTTP/3 alone, as it has worked before.
        case http3
    }

    private struct Offer {
        var expires: Int64
        var state = State.unused

        enum State {
            case unused, works
            case tried(at: Int64)
            case failed(at: Int64)
        }
    }

    private var offers: [UInt64: Offer] = [:]
    static let mostOrigins = 256
    /// The time without another trial after one that failed, or whose end was not reported.
    static let pause: Int64 = 300_000_000

    /// Returns the way for a request. The end of a trial is to be reported.
    /// - Parameter origin: `HTTPRequest.hostKey`.
    mutating func way(to origin: UInt64, at now: Int64) -> Way {
        guard let offer = offers[origin], now < offer.expires else { return .usual }
        switch offer.state {
        case .works: return .http3
        case .tried(let time), .failed(let time): if now - time < Self.pause { return .usual }
        case .unused: break
        }
        offers[origin]?.state = .tried(at: now)
        return .trial
    }

    /// Records how a trial, or a later request by HTTP/3, has ended.
    mutating func ended(_ origin: UInt64, works: Bool, at now: Int64) {
        offers[origin]?.state = works ? .works : .failed(at: now)
    }

    /// Reads the Alt-Svc fields of a response, which replace all earlier ones of the origin.
    /// - Parameters:
    ///   - values: At least one.
    ///   - host, port: Of the origin.
    mutating func learn(_ origin: UInt64, _ values: [String], host: String, port: String, at now: Int64) {
        guard let seconds = Self.lifetime(values, host: host, port: port), seconds > 0 else {
            offers[origin] = nil
            return
        }
        if offers[origin] == nil, offers.count >= Self.mostOrigins { dropFirstToExpire() }
        let expires = now + min(seconds, Self.longestLifetime) * 1_000_000
        offers[origin] = Offer(expires: expires, state: offers[origin]?.state ?? .unused)
    }

    private mutating func dropFirstToExpire() {
        let first = offers.min { $0.value.expires < $1.value.expires }
        if let first { offers[first.key] = nil }
    }

    /// A month, in seconds. RFC 7838 §3.1 has no limit.
    private static let longestLifetime: Int64 = 30 * 86_400

    /// Returns for how many seconds HTTP/3 is offered; `nil` if it is not.
    private static func lifetime(_ values: [String], host: String, port: String) -> Int64? {
        for alternative in values.joined(separator: ",").split(separator: ",") {
            let parameters = AuthChallenge.parameters(of: String(alternative))
            guard let place = parameters["h3"], place == ":" + port || place.lowercased() == "\(host):\(port)" else {
                continue
            }
            guard let age = parameters["ma"] else { return 86_400 }
            if let seconds = Int64(age) { return seconds }
        }
        return nil
    }
}
