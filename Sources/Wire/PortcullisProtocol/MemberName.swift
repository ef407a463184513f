/// The members of the JSON objects that clients send and get (docs/protocol.md).
public enum MemberName {
  // Of a challenge.
  /// 64 hexadecimal digits; in a registration another name of `clientData`.
  public static let nonce = "nonce"
  /// Unix time in milliseconds.
  public static let expires = "expires"

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
}
