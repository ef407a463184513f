import PortcullisProtocol
import Testing

@testable import HTTPWire

/// Responses byte for byte (docs/protocol.md, "Answers"), and dates against RFC 9110 §5.6.7.
@Suite struct ResponseTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func plain() {
    let response = Response(.ok, json: #"{"status":"ok"}"#)
    #expect(
      text(response.encoded(closing: false)) == """
        HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r
        Content-Length: 15\r\n\r\n{"status":"ok"}
        """)
  }

  @Test func refusalThatCloses() {
    let response = Response.refusal(.badRequest)
    #expect(
      text(response.encoded(closing: true, date: "Thu, 01 Jan 1970 00:00:00 GMT")) == """
        HTTP/1.1 400 Bad Request\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r
        Content-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\nContent-Length: 70\r
        Portcullis-Error: bad_request\r\nConnection: close\r\n\r
        {"error":{"code":"bad_request","message":"The request is malformed."}}
        """)
  }

  @Test func headGetsNoBody() {
    let response = Response.refusal(.methodNotAllowed, allow: "POST")
    let full = text(response.encoded(closing: false))
    let bare = text(response.encoded(closing: false, toHead: true))
    #expect(full.hasPrefix(bare))
    #expect(bare.hasSuffix("\r\n\r\n"))
    #expect(bare.contains("\r\nAllow: POST\r\n"))
    #expect(bare.contains("\r\nContent-Length: \(full.utf8.count - bare.utf8.count)\r\n"))
  }

  @Test(arguments: RefusalCode.allCases) func everyCode(code: RefusalCode) {
    let bytes = text(Response.refusal(code, retryAfter: 7).encoded(closing: false))
    let status = code.status.rawValue
    #expect(bytes.hasPrefix("HTTP/1.1 \(status) \(code.status.reason)\r\n"))
    #expect(bytes.contains("\r\nPortcullis-Error: \(code.rawValue)\r\n"))
    #expect(bytes.contains("\r\nRetry-After: 7\r\n") == (status == 429 || status == 503))
    #expect(bytes.contains("\r\nAllow: GET\r\n") == (status == 405))
    #expect(bytes.contains("\r\nSec-WebSocket-Version: 13\r\n") == (code == .upgradeRequired))
    #expect(bytes.contains("\r\nUpgrade: websocket\r\n") == (status == 426))
    #expect(bytes.contains("\r\nWWW-Authenticate: ") == (status == 401))
    #expect(bytes.contains("\r\nWWW-Authenticate: Bearer\r\n") == (code == .tokenRejected))
    #expect(bytes.contains("\r\nConnection: Upgrade\r\n") == (status == 426))
    #expect(bytes.hasSuffix(#"{"error":{"code":"\#(code.rawValue)","message":"\#(code.sentence)"}}"#))
    #expect(code.sentence.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
  }

  @Test func aDeveloperIsToldTheStep() {
    let response = Response.refusal(.badRequest, step: "summary_character", field: "target")
    #expect(
      text(response.encoded(closing: false)).hasSuffix(
        #""message":"The request is malformed.","step":"summary_character","field":"target"}}"#))
    // No word of the gate's has such characters; one that had would not break the JSON.
    let odd = text(Response.refusal(.badRequest, step: #"a"b"#).encoded(closing: false))
    #expect(odd.hasSuffix(#""message":"The request is malformed."}}"#))
  }

  /// By what is shown there, and not by the code alone.
  @Test(arguments: [
    (RefusalCode.nonceInvalid, false, "AppAttest"), (.nonceInvalid, true, "DeviceKey"),
    (.tokenRejected, true, "Bearer"), (.deviceUnknown, false, "DeviceKey"),
    (.assertionRequired, false, "AppAttest"),
  ])
  func theSchemeIsTheEndpoints(code: RefusalCode, provesByDevice: Bool, scheme: String) {
    let bytes = text(Response.refusal(code, provesByDevice: provesByDevice).encoded(closing: false))
    #expect(bytes.contains("\r\nWWW-Authenticate: \(scheme)\r\n"))
  }

  @Test func upgradeRequiredThatCloses() {
    #expect(
      text(Response.refusal(.upgradeRequired).encoded(closing: true)).contains(
        "Connection: Upgrade, close\r\n"))
  }

  /// docs/protocol-devices.md, "Codes".
  @Test(arguments: [
    (400, ["bad_request", "clock_skewed"]),
    (
      401,
      [
        "assertion_rejected", "assertion_required", "attestation_stale", "device_unknown", "key_unknown",
        "nonce_invalid", "signature_rejected", "token_rejected",
      ]
    ),
    (
      403,
      [
        "attestation_rejected", "code_rejected", "device_pending", "device_revoked", "key_revoked",
        "lease_mismatch", "level_too_low", "origin_forbidden", "policy_refused", "presence_rejected",
        "presence_required", "requester_barred", "risk_denied", "scope_missing",
      ]
    ),
    (404, ["not_found"]), (405, ["method_not_allowed"]), (408, ["request_timeout"]),
    (
      409,
      [
        "already_voted", "idempotency_conflict", "key_known", "lease_ended", "lease_exhausted", "no_device",
        "not_pending", "superseded",
      ]
    ),
    (410, ["pairing_rejected"]), (411, ["length_required"]), (413, ["content_too_large"]),
    (414, ["uri_too_long"]), (415, ["unsupported_media_type"]), (417, ["expectation_failed"]),
    (426, ["client_outdated", "upgrade_required"]),
    (429, ["quota_exceeded", "rate_limited", "subject_locked", "too_many_open"]),
    (431, ["headers_too_large"]),
    (500, ["internal_error"]), (501, ["not_implemented"]),
    (503, ["backend_unavailable", "overloaded", "shutting_down", "store_unavailable"]),
    (505, ["version_not_supported"]),
  ])
  func table(status: Int, codes: [String]) {
    #expect(RefusalCode.allCases.filter { $0.status.rawValue == status }.map(\.rawValue).sorted() == codes)
  }

  @Test func interim() {
    #expect(text(Response.interimContinue) == "HTTP/1.1 100 Continue\r\n\r\n")
  }

  @Test func aFieldThatEndsItsLineTraps() async {
    await #expect(processExitsWith: .failure) {
      var head = ResponseHead(.ok)
      head.add("X", "a\r\nY: b")
    }
  }

  @Test(arguments: [
    (Int64(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
    (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
  ])
  func date(seconds: Int64, expected: String) {
    #expect(HTTPDate.format(secondsSince1970: seconds) == expected)
  }
}
