/// The codes a peer can be refused with, their statuses and their one sentence (docs/protocol.md, "Codes").
public enum RefusalCode: String, CaseIterable, Sendable {
  case badRequest = "bad_request"
  case assertionRequired = "assertion_required"
  case nonceInvalid = "nonce_invalid"
  case keyUnknown = "key_unknown"
  case assertionRejected = "assertion_rejected"
  case attestationRejected = "attestation_rejected"
  case originForbidden = "origin_forbidden"
  case keyRevoked = "key_revoked"
  case notFound = "not_found"
  case methodNotAllowed = "method_not_allowed"
  case requestTimeout = "request_timeout"
  case superseded
  case lengthRequired = "length_required"
  case contentTooLarge = "content_too_large"
  case uriTooLong = "uri_too_long"
  case unsupportedMediaType = "unsupported_media_type"
  case expectationFailed = "expectation_failed"
  case upgradeRequired = "upgrade_required"
  case rateLimited = "rate_limited"
  case headersTooLarge = "headers_too_large"
  case internalError = "internal_error"
  case notImplemented = "not_implemented"
  case backendUnavailable = "backend_unavailable"
  case overloaded
  case shuttingDown = "shutting_down"
  case storeUnavailable = "store_unavailable"
  case versionNotSupported = "version_not_supported"

  /// The HTTP status that it comes with.
  public var statusCode: Int {
    switch self {
    case .badRequest: 400
    case .assertionRequired, .nonceInvalid, .keyUnknown, .assertionRejected: 401
    case .attestationRejected, .originForbidden, .keyRevoked: 403
    case .notFound: 404
    case .methodNotAllowed: 405
    case .requestTimeout: 408
    case .superseded: 409
    case .lengthRequired: 411
    case .contentTooLarge: 413
    case .uriTooLong: 414
    case .unsupportedMediaType: 415
    case .expectationFailed: 417
    case .upgradeRequired: 426
    case .rateLimited: 429
    case .headersTooLarge: 431
    case .internalError: 500
    case .notImplemented: 501
    case .backendUnavailable, .overloaded, .shuttingDown, .storeUnavailable: 503
    case .versionNotSupported: 505
    }
  }

  /// What the peer is told, in ASCII without quotes; the precise reason goes to the log.
  public var sentence: String {
    switch self {
    case .badRequest: "The request is malformed."
    case .assertionRequired: "An App Attest assertion is required here."
    case .nonceInvalid: "The challenge is unknown, used or expired; ask for a new one."
    case .keyUnknown: "The key is not registered here; register it again."
    case .assertionRejected: "The assertion was not accepted."
    case .attestationRejected: "The attestation was not accepted."
    case .originForbidden: "This origin may not connect."
    case .keyRevoked: "The key has been revoked."
    case .notFound: "There is nothing at this path."
    case .methodNotAllowed: "This method is not allowed here."
    case .requestTimeout: "The request did not arrive in time."
    case .superseded: "A newer session of the same key took the place."
    case .lengthRequired: "The request needs a Content-Length."
    case .contentTooLarge: "The request body is too large."
    case .uriTooLong: "The request line is too long."
    case .unsupportedMediaType: "The request body must be application/json."
    case .expectationFailed: "The expectation cannot be met."
    case .upgradeRequired: "This path speaks WebSocket, version 13."
    case .rateLimited: "Too many requests; try again later."
    case .headersTooLarge: "The request header is too large."
    case .internalError: "Something went wrong here."
    case .notImplemented: "Transfer codings are not supported; send a Content-Length."
    case .backendUnavailable: "The game cannot be reached; try again later."
    case .overloaded: "Too much is going on; try again later."
    case .shuttingDown: "The gate is shutting down; try again later."
    case .storeUnavailable: "The key store cannot be written; try again later."
    case .versionNotSupported: "This needs HTTP/1.1."
    }
  }
}
