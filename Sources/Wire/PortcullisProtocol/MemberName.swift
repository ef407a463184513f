/// The members of the JSON objects that clients send and get (docs/protocol.md).
public enum MemberName {
  // Of a challenge.
  /// 64 hexadecimal digits; in a registration another name of `clientData`.
  public static let nonce = "nonce"
  /// Unix time in milliseconds.
  public static let expires = "expires"
  /// The gate's UUID, where it has devices.
  public static let serverID = "server_id"

  // Of a registration.
  /// Base64 of the key identifier's 32 bytes.
  public static let keyID = "keyId"
  /// Base64 of the attestation, which is CBOR.
  public static let attestation = "attestation"
  /// The challenge as it was issued.
  public static let clientData = "clientData"
  /// Of the answer: true.
  public static let registered = "registered"

  // Of health.
  public static let status = "status"

  // Of a refusal: an object of the two below.
  public static let error = "error"
  public static let code = "code"
  public static let message = "message"
  /// The rule that was broken, where it is told: to services, and to everybody outside production.
  public static let step = "step"
  /// The member of the body that broke it.
  public static let field = "field"
  /// Of `clock_skewed`: Unix time in seconds.
  public static let time = "time"

  // Of the messages of `portcullis.v1` (docs/sessions.md).
  /// What the message is: a `MessageKind`.
  public static let type = "type"
  /// Of `session`: what it is resumed by.
  public static let id = "id"
  public static let resumed = "resumed"
  /// How many counted messages the sender of this one has got.
  public static let received = "received"
  /// Seconds that the session stays without a connection.
  public static let resumeFor = "resumeFor"
  /// The most bytes of a message to the gate.
  public static let maxMessage = "maxMessage"
  /// Whether the session outlives a restart of the gate.
  public static let kept = "kept"
  /// Messages that may have reached the game or not.
  public static let doubt = "doubt"
  /// Of `session`, `closing` and `ended`.
  public static let reason = "reason"
  public static let echo = "echo"
  /// Of `session`: whether the game speaks GMCP. Of `client`: what the app supports.
  public static let gmcp = "gmcp"
  public static let msdp = "msdp"
  public static let on = "on"
  /// The name of a GMCP message.
  public static let package = "package"
  public static let data = "data"
  /// True where the message repeats what was said.
  public static let again = "again"
  /// Of `gap`: how many are missing; null where nobody knows.
  public static let messages = "messages"
  /// Of `gap`: the number of the next counted message. Of `session`: 64 hexadecimal digits, which may be signed instead of a
  /// challenge to resume it.
  public static let next = "next"

  /// Of `approvals`: how many requests wait for the device's vote.
  public static let open = "open"

  // Of `client`.
  public static let name = "name"
  public static let version = "version"
  public static let terminal = "terminal"
  /// `ClientFeature`s.
  public static let features = "features"
  public static let columns = "columns"
  public static let rows = "rows"

  // Of the objects of `json.mudstandards.org`; with `id` and `data`.
  public static let proto = "proto"
}
