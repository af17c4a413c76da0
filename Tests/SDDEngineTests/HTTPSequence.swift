import SDDBase
import SDDCaches
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// One row of the tables for the whole HTTP cache: requests for a URL, one after the other, the replies of a real
/// server to those that reach it, and the expected results. The rule names the section of the RFC, 9111 or another.
///
/// `{-60}` in a field is the date a minute before the sequence began.
struct HTTPSequence: Sendable, CustomTestStringConvertible {
    let rule: String
    let steps: [HTTPStep]

    init(_ rule: String, _ steps: HTTPStep...) {
        self.rule = rule
        self.steps = steps
    }

    var testDescription: String { rule }

    func run() throws {
        let world = try HTTPCacheWorld()
        for (index, step) in steps.enumerated() { try step.run(index, in: world, "\(rule), step \(index)") }
        world.end()
    }
}

/// One step of a sequence. Each reply of a step has the body "body N", N being the number of the step from 0 on, unless
/// the step says otherwise.
struct HTTPStep: Sendable {
    // The request.
    var method = "GET"
    var path = ""
    var asked: [String] = []
    var wishes = HTTPCacheLookup.Wishes.http
    var isOffline = false
    var options = TransferOptions.Values()
    var accepts = Acceptance.all
    /// The seconds since the step before.
    var passed: Int64 = 0

    // The server's replies, if it is asked: to the path, or to others behind it.
    var replies: [(path: String, reply: ScriptedReply)] = []
    /// The body of the replies.
    var sent: String?
    /// Whether the server is asked in the background, and the request does not wait for it.
    var isMeanwhile = false

    // The expectations.
    var conditions: [String] = []
    /// The path that gets the conditions; behind a redirect the first one gets none.
    var conditionsPath: String?
    var origin = DownloadResult.Origin.network
    var status: Int32 = 200
    /// The step whose body is expected; nil means this one.
    var bodyOf: Int?
    /// The body that is expected, if it is not that of a step.
    var text: String?
    var error: DownloadError.Code?
    /// Fields of the result: "NAME: VALUE", or "NAME" for a field that must be absent.
    var shown: [String] = []
}

// MARK: - Kinds of steps

extension HTTPStep {
    /// The server is asked without conditions, and sends a whole response.
    static func answered(_ fields: String..., status: Int = 200) -> HTTPStep {
        var step = HTTPStep()
        step.replies = [("", ScriptedReply(status, fields))]
        step.status = Int32(status)
        return step
    }

    /// The server is asked with these conditions, and answers that the stored response is valid.
    static func validated(by conditions: String..., says fields: [String] = []) -> HTTPStep {
        var step = HTTPStep()
        step.replies = [("", ScriptedReply(304, fields))]
        step.conditions = conditions
        step.origin = .httpRevalidated
        step.bodyOf = 0
        return step
    }

    /// The server is asked with these conditions, and sends another response.
    static func replaced(by conditions: String..., says fields: [String] = [], status: Int = 200) -> HTTPStep {
        var step = HTTPStep()
        step.replies = [("", ScriptedReply(status, fields))]
        step.conditions = conditions
        step.status = Int32(status)
        return step
    }

    /// The server is not asked.
    static var fresh: HTTPStep { kept(.httpFresh) }
    static var stale: HTTPStep { kept(.httpStale) }

    private static func kept(_ origin: DownloadResult.Origin) -> HTTPStep {
        var step = HTTPStep()
        step.origin = origin
        step.bodyOf = 0
        return step
    }

    /// The server is not asked, and no stored response can be served.
    static var notCached: HTTPStep { HTTPStep().fails(.notCached) }
}

// MARK: - Variations of a step

extension HTTPStep {
    private func with(_ change: (inout HTTPStep) -> Void) -> HTTPStep {
        var step = self
        change(&step)
        return step
    }

    func asking(_ fields: String...) -> HTTPStep { with { $0.asked = fields } }
    func after(_ seconds: Int64) -> HTTPStep { with { $0.passed = seconds } }
    func by(_ method: String) -> HTTPStep { with { $0.method = method } }
    /// Uses a URL below that of the sequence.
    func at(_ path: String) -> HTTPStep {
        with { step in
            step.path = path
            step.replies = step.replies.map { (path + $0.path, $0.reply) }
        }
    }
    func wishing(_ wishes: HTTPCacheLookup.Wishes) -> HTTPStep { with { $0.wishes = wishes } }
    var offline: HTTPStep { with { $0.isOffline = true } }
    var withCookies: HTTPStep { with { $0.options.usesCookies = true } }
    func withBearer(_ token: String) -> HTTPStep {
        with {
            $0.options.credential = Credential()
            $0.options.credential?.bearerToken = token
        }
    }
    func accepting(_ statuses: String) -> HTTPStep {
        with { $0.accepts = Acceptance(statuses: statuses, types: nil) ?? .all }
    }
    /// Expects the body of that step.
    func body(of step: Int) -> HTTPStep { with { $0.bodyOf = step } }
    /// The server sends this body, and it is expected.
    func sending(_ body: String) -> HTTPStep { with { ($0.sent, $0.text) = (body, body) } }
    /// Expects a 206 with this body.
    func part(_ text: String) -> HTTPStep { with { ($0.status, $0.text) = (206, text) } }
    /// Expects this body.
    func text(_ text: String) -> HTTPStep { with { $0.text = text } }
    func status(_ status: Int32) -> HTTPStep { with { $0.status = status } }
    func from(_ origin: DownloadResult.Origin) -> HTTPStep { with { $0.origin = origin } }
    func fails(_ code: DownloadError.Code) -> HTTPStep { with { $0.error = code } }
    func showing(_ fields: String...) -> HTTPStep { with { $0.shown = fields } }
    /// Cuts off the body.
    func cut(after count: Int) -> HTTPStep { with { $0.replies[$0.replies.count - 1].reply.cut = count } }
    /// The server is asked once more in this step, or at the URL of a redirect.
    func then(_ status: Int = 200, at path: String? = nil, _ fields: String...) -> HTTPStep {
        with { $0.replies.append((path ?? $0.path, ScriptedReply(status, fields))) }
    }
    /// The server is also asked in the background.
    func meanwhile(_ status: Int = 200, _ fields: String...) -> HTTPStep {
        with {
            $0.replies.append(($0.path, ScriptedReply(status, fields)))
            $0.isMeanwhile = true
        }
    }
    func meanwhile(_ status: Int = 200, by conditions: [String], _ fields: String...) -> HTTPStep {
        with {
            $0.replies.append(($0.path, ScriptedReply(status, fields)))
            $0.isMeanwhile = true
            $0.conditions = conditions
        }
    }
}
