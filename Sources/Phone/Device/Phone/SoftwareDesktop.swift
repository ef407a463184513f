/// A desktop in software: a service that asks its gate for challenges, and shows it what phones have answered.
package import Dialing
internal import JSON
package import PortcullisDevice
package import PortcullisProtocol

package final class SoftwareDesktop {
  private let client: GateClient
  private let token: String

  /// - Parameter token: the service's own.
  package init(_ client: GateClient, token: String) {
    self.client = client
    self.token = token
  }

  /// The token in a file, as `portcullis services add` has printed it.
  package static func token(in path: String) throws(DeviceError) -> String {
    let text = String(decoding: try PEMFile.read(path), as: UTF8.self)
    let line = text.hasSuffix("\n") ? text.dropLast() : Substring(text)
    guard !line.isEmpty else {
      throw .unusable(path: path, reason: "the file is empty: services rotate NAME makes another token")
    }
    guard (1...256).contains(line.utf8.count), line.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .unusable(
        path: path, reason: "holds more than a token: leave one line in it, as services add prints it")
    }
    return String(line)
  }

  /// What a phone is to be asked that may be near.
  package func question(about device: DeviceID) throws(GateClientError) -> PresenceQuestion {
    var form = JSONForm()
    form.add("device_id", device.text)
    let line = String(decoding: try post("/presence/challenge", form), as: UTF8.self)
    guard let question = PresenceQuestion(line: line) else {
      throw .malformedResponse("not a challenge")
    }
    return question
  }

  /// - Parameter strength: of the phone's signal, in dBm; nil where none was measured.
  /// - Returns: until when the gate takes the phone to be near, in Unix seconds.
  package func prove(_ answer: PresenceAnswer, strength: Int64?) throws(GateClientError) -> Int64 {
    let json = try post("/presence/verify", answer.form(strength: strength))
    guard let object = (try? JSONValue(parsing: json.span, depthLimit: 4))?.object,
      object["result"]?.string == "pass", object["device_id"]?.string == answer.device.text,
      let expiresAt = object["expires_at"]?.integer
    else { throw .malformedResponse("not a pass") }
    return expiresAt
  }

  private func post(_ path: String, _ form: JSONForm) throws(GateClientError) -> [UInt8] {
    let bearer = GateResponse.Field("Authorization", "Bearer \(token)")
    let response = try client.post(path, json: form.bytes, fields: [bearer])
    guard response.status == 200 else { throw .refused(response) }
    return response.body
  }
}
