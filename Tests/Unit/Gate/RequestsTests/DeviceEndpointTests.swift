import DeviceWire
import HTTPWire
import Kit
import Testing

@testable import Requests

@Suite struct DeviceEndpointTests {
  private static let id = "01234567-89ab-4cde-8f01-23456789abcd"
  private static var pairing: PairingID { PairingID(id) ?? PairingID(random: SeededEntropy(1)) }
  private static var request: ApprovalID { ApprovalID(id) ?? ApprovalID(random: SeededEntropy(1)) }
  private static var lease: LeaseID { LeaseID(id) ?? LeaseID(random: SeededEntropy(1)) }

  /// docs/protocol-devices.md, "Devices": each endpoint by its method, and what the others are told.
  private static let table: [(path: String, endpoints: [String: DeviceEndpoint])] = [
    ("/device/enroll", ["POST": .enroll]), ("/mobile/attest", ["POST": .attest]),
    ("/device/token", ["POST": .token]), ("/device/self", ["GET": .ownDevice]),
    ("/device/rotate", ["POST": .rotate]), ("/device/heartbeat", ["POST": .heartbeat]),
    ("/device/introspect", ["POST": .introspect]), ("/pair", ["POST": .openPairing]),
    ("/pair/\(id)", ["GET": .pairing(pairing), "POST": .answerPairing(pairing)]),
    ("/pair/\(id)/confirm", ["POST": .confirmPairing(pairing)]),
    ("/approvals", ["GET": .approvals, "POST": .requestApproval]),
    ("/approvals/\(id)", ["GET": .approval(request), "DELETE": .cancelApproval(request)]),
    ("/approvals/\(id)/decision", ["POST": .decide(request)]),
    ("/leases/\(id)/use", ["POST": .useLease(lease)]), ("/leases/\(id)", ["DELETE": .endLease(lease)]),
    ("/.well-known/jwks.json", ["GET": .keySet]), ("/presence/challenge", ["POST": .askPresence]),
    ("/presence/verify", ["POST": .provePresence]), ("/auth/otp", ["GET": .codes]),
    ("/auth/otp/challenge", ["POST": .challengeCode]),
    ("/auth/otp/issue", ["POST": .issueCode]), ("/auth/otp/verify", ["POST": .verifyCode]),
  ]

  @Test(arguments: table.indices) func endpoints(index: Int) throws {
    let (path, endpoints) = Self.table[index]
    for method in ["GET", "POST", "DELETE", "HEAD", "PUT", "OPTIONS"] {
      let found = DeviceResource.find(try head("\(method) \(path) HTTP/1.1"))
      if let endpoint = endpoints[method] {
        #expect(found == .endpoint(endpoint))
        #expect(endpoint.hasBody == (method == "POST"))
      } else {
        let allow = ["GET", "POST", "DELETE"].filter { endpoints[$0] != nil }.joined(separator: ", ")
        #expect(found == .methodNotAllowed(allow: allow), "\(method) \(path)")
      }
    }
    #expect(DeviceResource.find(try head("GET \(path)?wait=25 HTTP/1.1")) != nil)
  }

  @Test(arguments: [
    "/device/", "/device/enroll/", "/device/Enroll", "/device/self/x", "/device//self", "/pair/", "/pair/x",
    "/pair/\(id.uppercased())", "/pair/\(id)/", "/pair/\(id)/confirm/", "/pair/\(id)/x",
    "/pair/\(id.dropLast())", "/pair/%30\(id.dropFirst())", "/approvals/", "/approvals/x",
    "/approvals/\(id)/",
    "/approvals/\(id)/decision/x", "/leases/\(id)/", "/leases/", "/auth/otp/", "/auth/otp/issue/",
    "/auth/otp/issue/x", "/auth/otp/x",
    "/presence/", "/presence/challenge/", "/presence/verify/x", "/presence/Verify",
  ])
  func nothingElseLiesBesideThem(path: String) throws {
    #expect(DeviceResource.find(try head("GET \(path) HTTP/1.1")) == .notFound)
    #expect(DeviceResource.find(try head("POST \(path) HTTP/1.1")) == .notFound)
  }

  @Test(arguments: [
    "/", "/device", "/devices/self", "/mobile", "/mobile/attest/", "/mobile/attested", "/paired",
    "/approvals2",
    "/leases", "/presence", "/auth", "/auth/otp2", "/.well-known/", "/.well-known/jwks.jsonx",
    "/play/device/self",
    "/attest/challenge", "/healthz",
  ])
  func otherPathsAreNotTheirs(path: String) throws {
    #expect(DeviceResource.find(try head("GET \(path) HTTP/1.1")) == nil)
  }
}

@Suite struct DeviceQueryTests {
  private func query(_ text: String?, _ names: Set<DeviceQuery.Name> = [.after, .wait]) throws -> DeviceQuery
  {
    try DeviceQuery(text, allowing: names)
  }

  private func refusal(_ text: String, _ names: Set<DeviceQuery.Name> = [.after, .wait]) -> DeviceQuery
    .Malformed?
  {
    do throws(DeviceQuery.Malformed) {
      _ = try DeviceQuery(text, allowing: names)
      return nil
    } catch {
      return error
    }
  }

  @Test func members() throws {
    #expect(try query(nil).wait == nil)
    #expect(try query("")[.after] == nil)
    let both = try query("wait=25&after=a-Z_0.~")
    #expect(both.wait == .seconds(25) && both[.after] == "a-Z_0.~")
    #expect(try query("after=a%2Db")[.after] == "a-b")
    #expect(try query("after=a=b")[.after] == "a=b")
    #expect(try query("after=")[.after] == "")
    #expect(try query("purpose=enroll", [.purpose])[.purpose] == "enroll")
  }

  @Test(
    arguments: [("0", nil), ("1", 1), ("25", 25), ("26", 25), ("999999999", 25), ("007", 7)]
      as [(String, Int?)])
  func waits(text: String, seconds: Int?) throws {
    #expect(try query("wait=\(text)").wait == seconds.map { .seconds($0) })
  }

  @Test(
    arguments: [
      ("x=1", .unknownName), ("Wait=1", .unknownName), ("wait=1&", .unknownName), ("&wait=1", .unknownName),
      ("wait=1&wait=1", .repeatedName), ("wait", .value), ("wait=", .value), ("wait=-1", .value),
      ("wait=+1", .value),
      ("wait=1.0", .value), ("wait=1e1", .value), ("wait=1234567890", .value), ("wait=25s", .value),
      ("after=%00", .value), ("after=%20", .value), ("after=%FF", .value), ("purpose=enroll", .unknownName),
      ("wait%3D1", .unknownName),
    ] as [(String, DeviceQuery.Malformed)])
  func whatIsRefused(text: String, expected: DeviceQuery.Malformed) {
    #expect(refusal(text) == expected)
  }
}

@Suite struct DeviceHeadersTests {
  @Test(
    arguments: [
      ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER a.b-c_~+/=", "a.b-c_~+/="),
      ("Bearer  abc", nil), ("Bearer", nil), ("Bearer abc def", nil), ("Bearer a\"b", nil),
      ("Basic abc", nil),
      ("abc", nil), ("Bearer a,b", nil),
    ] as [(String, String?)])
  func bearers(value: String, token: String?) throws {
    #expect(BearerToken(try head("GET /device/self HTTP/1.1", "Authorization: \(value)"))?.text == token)
  }

  @Test func oneBearerOfItsLength() throws {
    let line = "GET /device/self HTTP/1.1"
    #expect(BearerToken(try head(line)) == nil)
    #expect(BearerToken(try head(line, "Authorization: Bearer a", "Authorization: Bearer a")) == nil)
    let longest = String(repeating: "a", count: BearerToken.longest)
    #expect(BearerToken(try head(line, "Authorization: Bearer \(longest)"))?.text == longest)
    #expect(BearerToken(try head(line, "Authorization: Bearer a\(longest)")) == nil)
    #expect(BearerToken(try head(line, "Authorization: Bearer a.b.c"))?.isDeviceToken == true)
    #expect(BearerToken(try head(line, "Authorization: Bearer abc"))?.isDeviceToken == false)
  }

  @Test func traces() throws {
    let (line, entropy) = ("GET /device/self HTTP/1.1", SeededEntropy(1))
    let longest = String(repeating: "t", count: TraceID.longest)
    for kept in ["x", "00-4bf92f35-01", "a_b~c!", longest] {
      #expect(TraceID(try head(line, "X-Trace-Id: \(kept)"), entropy: entropy).text == kept)
    }
    for other in ["a b", "a\"", "\(longest)t", ""] {
      let made = TraceID(try head(line, "X-Trace-Id: \(other)"), entropy: entropy).text
      #expect(made != other && made.utf8.count == 16)
    }
    let first = TraceID(try head(line), entropy: entropy)
    #expect(first != TraceID(try head(line), entropy: entropy))
    #expect(TraceID(try head(line, "X-Trace-Id: a", "X-Trace-Id: b"), entropy: entropy).text.utf8.count == 16)
  }
}
