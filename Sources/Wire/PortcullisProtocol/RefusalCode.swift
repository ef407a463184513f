/// The codes a peer can be refused with, their statuses and their one sentence (docs/protocol-devices.md, "Codes").
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

  // Of devices, services and approvals.
  case clockSkewed = "clock_skewed"
  case tokenRejected = "token_rejected"
  case deviceUnknown = "device_unknown"
  case signatureRejected = "signature_rejected"
  case attestationStale = "attestation_stale"
  case devicePending = "device_pending"
  case deviceRevoked = "device_revoked"
  case levelTooLow = "level_too_low"
  case scopeMissing = "scope_missing"
  case policyRefused = "policy_refused"
  case requesterBarred = "requester_barred"
  case codeRejected = "code_rejected"
  case presenceRejected = "presence_rejected"
  case presenceRequired = "presence_required"
  case riskDenied = "risk_denied"
  case leaseMismatch = "lease_mismatch"
  case noDevice = "no_device"
  case notPending = "not_pending"
  case alreadyVoted = "already_voted"
  case keyKnown = "key_known"
  case idempotencyConflict = "idempotency_conflict"
  case leaseExhausted = "lease_exhausted"
  case leaseEnded = "lease_ended"
  case pairingRejected = "pairing_rejected"
  case clientOutdated = "client_outdated"
  case tooManyOpen = "too_many_open"
  case subjectLocked = "subject_locked"
  case quotaExceeded = "quota_exceeded"

  /// The HTTP status that it comes with.
  public var statusCode: Int {
    switch self {
    case .badRequest, .clockSkewed: 400
    case .assertionRequired, .nonceInvalid, .keyUnknown, .assertionRejected, .tokenRejected, .deviceUnknown,
      .signatureRejected, .attestationStale:
      401
    case .attestationRejected, .originForbidden, .keyRevoked, .devicePending, .deviceRevoked, .levelTooLow,
      .scopeMissing, .policyRefused, .requesterBarred, .codeRejected, .presenceRejected, .presenceRequired,
      .riskDenied, .leaseMismatch:
      403
    case .notFound: 404
    case .methodNotAllowed: 405
    case .requestTimeout: 408
    case .superseded, .noDevice, .notPending, .alreadyVoted, .keyKnown, .idempotencyConflict, .leaseExhausted,
      .leaseEnded:
      409
    case .pairingRejected: 410
    case .lengthRequired: 411
    case .contentTooLarge: 413
    case .uriTooLong: 414
    case .unsupportedMediaType: 415
    case .expectationFailed: 417
    case .upgradeRequired, .clientOutdated: 426
    case .rateLimited, .tooManyOpen, .subjectLocked, .quotaExceeded: 429
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
    case .notImplemented: "No transfer coding but chunked is supported."
    case .backendUnavailable: "The game cannot be reached; try again later."
    case .overloaded: "Too much is going on; try again later."
    case .shuttingDown: "The gate is shutting down; try again later."
    case .storeUnavailable: "The store cannot be written; try again later."
    case .versionNotSupported: "This needs HTTP/1.1."
    case .clockSkewed: "The time in the request is too far from the gate's."
    case .tokenRejected: "The token was not accepted."
    case .deviceUnknown: "There is no such device."
    case .signatureRejected: "The signature was not accepted."
    case .attestationStale: "The last attestation is too old; attest again."
    case .devicePending: "The device is not confirmed yet."
    case .deviceRevoked: "The device has been revoked."
    case .levelTooLow: "The device's keys are not attested well enough for this."
    case .scopeMissing: "This is not the service's to ask."
    case .policyRefused: "The policy does not allow it."
    case .requesterBarred: "This requester was reported, and may not ask again."
    case .codeRejected: "The code was not accepted."
    case .presenceRejected: "The device's presence was not proved."
    case .presenceRequired: "The device has to be near."
    case .riskDenied: "The risk is too high."
    case .leaseMismatch: "The lease is for something else."
    case .noDevice: "No device could approve it."
    case .notPending: "It is not pending, or not any more."
    case .alreadyVoted: "The device has voted already."
    case .keyKnown: "The key is known already; send an assertion."
    case .idempotencyConflict: "The idempotency key was used for another request."
    case .leaseExhausted: "The lease has no uses left."
    case .leaseEnded: "The lease has ended."
    case .pairingRejected: "The pairing cannot be used."
    case .clientOutdated: "The app is too old; update it."
    case .tooManyOpen: "Too many are open already."
    case .quotaExceeded: "The service has left too much in the store for now; try again later."
    case .subjectLocked: "Too many wrong codes; an operator has to unlock the subject."
    }
  }
}
