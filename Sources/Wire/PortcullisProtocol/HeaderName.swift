/// The names of HTTP fields that are the gate's own, or that it wants its clients to heed (docs/protocol.md).
public enum HeaderName {
  /// All fields of an upgrade that begin so belong to the assertion.
  public static let assertionPrefix = "X-App-Assert-"
  /// Base64 of the key identifier's 32 bytes.
  public static let assertionKeyID = "X-App-Assert-KeyId"
  /// Base64 of the assertion, which is CBOR.
  public static let assertionData = "X-App-Assert-Data"
  /// The challenge as it was issued: 64 hexadecimal digits.
  public static let assertionNonce = "X-App-Assert-Nonce"

  /// Of an upgrade to `portcullis.v1`: the session to be resumed, `<id>;received=<n>` and perhaps `;state`.
  public static let resume = "Portcullis-Resume"
  /// Of an upgrade to `portcullis.v1`: base64url of the object that `client` messages are.
  public static let client = "Portcullis-Client"
  /// Of any upgrade: `off` for a connection without permessage-deflate, for apps whose WebSocket library always offers it.
  public static let compression = "Portcullis-Compression"

  /// All fields of an upgrade that begin so are a device's.
  public static let devicePrefix = "X-Device-"
  /// The device's UUID.
  public static let deviceID = "X-Device-Id"
  /// A challenge of the purpose `device`: 64 hexadecimal digits.
  public static let deviceNonce = "X-Device-Nonce"
  /// Base64 of the signature by the device key, which is DER.
  public static let deviceSignature = "X-Device-Signature"

  /// Of a request about devices: dotted integers, the version of the app.
  public static let clientVersion = "X-Client-Version"
  /// Of a request about devices: up to 64 characters of a token, by which it stands in the log.
  public static let traceID = "X-Trace-Id"
  /// Of the answer: the same, or one that was made for the request.
  public static let trace = "Portcullis-Trace"

  /// Of a refusal: the code, which a client of a refused upgrade sees even where it sees no body.
  public static let error = "Portcullis-Error"
  /// Of 429 and 503: seconds to wait.
  public static let retryAfter = "Retry-After"
}
