/// What a person has to know of a request before he decides on it: first what is to be done, for whom, and by which policy
/// (docs/running.md, "Approvals socket").
import Bytes
import JSON
import Prompt
import System
import Time

enum ApprovalFacts {
  /// - Parameter found: what the gate says of the request, as for the console's page.
  static func lines(_ found: JSONValue) -> [String] {
    guard let object = found.object else { return [] }
    return columns(
      request(object) + policy(object)
        + shown(object, ["id", "state", "reason", "created_at", "expires_at", "decided_at"]) + votes(object)
        + lease(object))
  }

  private static func request(_ object: JSONObject) -> [(String, String)] {
    let target = (object["target"]?.array ?? []).compactMap(\.object).map { member in
      (
        "target \(RegistryText.text(member["name"], of: "name"))",
        RegistryText.text(member["value"], of: "value")
      )
    }
    return shown(object, ["operation"]) + target
      + shown(object, ["text", "requester", "requester_name", "requester_address", "service", "subject"])
  }

  private static func policy(_ object: JSONObject) -> [(String, String)] {
    let quorum = object["quorum"]?.integer ?? 0
    let given = object["approvals"]?.integer ?? 0
    return shown(object, ["factors", "level", "uv"]).map { ("policy \($0.0)", $0.1) }
      + (quorum > 0 ? [("policy quorum", "\(given) of \(quorum)")] : [])
  }

  private static func votes(_ object: JSONObject) -> [(String, String)] {
    let votes = (object["votes"]?.array ?? []).compactMap(\.object).map { vote in
      let words = ["decision", "at", "level", "uv"].map { RegistryText.text(vote[$0], of: $0) }
      return (
        "vote",
        ([RegistryText.text(vote["device_name"] ?? vote["device_id"], of: "device")] + words).joined(
          separator: "  ")
      )
    }
    return votes + (object["operator"]?.integer.map { [("operator", "user \($0)")] } ?? [])
  }

  private static func lease(_ object: JSONObject) -> [(String, String)] {
    guard let lease = object["lease"]?.object else { return [] }
    return shown(lease, ["expires_at", "uses_left"]).map { ("lease \($0.0)", $0.1) }
  }

  private static func shown(_ object: JSONObject, _ names: [String]) -> [(String, String)] {
    // A person wants to know how long is left.
    let now = Output.isTerminal ? SystemClock().wall() : nil
    return names.compactMap { name in
      object[name].map { value in
        let text = RegistryText.text(value, of: name)
        guard let now, name.hasSuffix("_at") else { return (name, text) }
        return (name, "\(text), \(RegistryText.text(value, of: name, at: now))")
      }
    }
  }
}

/// A question at the terminal; a script has decided before.
enum Question {
  static var canBeAsked: Bool { isTerminal(0) && isTerminal(2) }

  /// Ends the command where the answer is not yes.
  static func ask(_ question: String) throws {
    tell("\(question) [y/N] ")
    let answer = readLine()?.lowercased() ?? ""
    if answer == "y" || answer == "yes" { return }
    complain("nothing was changed")
    throw ExitStatus.declined
  }
}
