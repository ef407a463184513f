import Admission
import Bytes
import Crypto
import DeviceWire
import HTTPWire
import Kit
import PortcullisProtocol
import Registry
import Testing

@testable import Requests

@Suite struct DeviceEndpointTests {
  private static let id = "01234567-89ab-4cde-8f01-23456789abcd"

  /// docs/protocol-devices.md, "Devices": each endpoint by its method, as the log names it, and what the others are told.
  private static let table: [(path: String, endpoints: [String: String])] = [
    ("/device/enroll", ["POST": "enroll"]), ("/mobile/attest", ["POST": "attest"]),
    ("/device/token", ["POST": "token"]), ("/device/self", ["GET": "self"]),
    ("/device/rotate", ["POST": "rotate"]), ("/device/heartbeat", ["POST": "heartbeat"]),
    ("/device/introspect", ["POST": "introspect"]), ("/pair", ["POST": "pair"]),
    ("/pair/\(id)", ["GET": "pairing", "POST": "pairing"]), ("/pair/\(id)/confirm", ["POST": "confirm"]),
    ("/approvals", ["GET": "approvals", "POST": "request"]),
    ("/approvals/\(id)", ["GET": "approval", "DELETE": "cancel"]),
    ("/approvals/\(id)/decision", ["POST": "decision"]),
    ("/leases/\(id)/use", ["POST": "lease_use"]), ("/leases/\(id)", ["DELETE": "lease_end"]),
    ("/presence/challenge", ["POST": "presence_challenge"]), ("/presence/verify", ["POST": "presence"]),
    ("/auth/otp", ["GET": "codes"]), ("/auth/otp/challenge", ["POST": "otp_challenge"]),
    ("/auth/otp/issue", ["POST": "otp_issue"]), ("/auth/otp/verify", ["POST": "otp_verify"]),
    ("/.well-known/jwks.json", ["GET": "jwks"]),
  ]

  @Test(arguments: table.indices) func endpoints(index: Int) throws {
    let (path, endpoints) = Self.table[index]
    for method in ["GET", "POST", "DELETE", "HEAD", "PUT", "OPTIONS"] {
      let found = DeviceEndpoint.find(try head("\(method) \(path) HTTP/1.1"))
      switch found {
      case .endpoint(let endpoint):
        #expect(endpoint.row.word == endpoints[method], "\(method) \(path)")
        #expect(endpoint.row.path.text == path.replacing(Self.id, with: "{id}"))
        #expect(endpoint.hasBody == (method == "POST"))
      case .keySet: #expect(endpoints[method] == "jwks")
      case .methodNotAllowed(let allowed):
        let allow = ["GET", "POST", "DELETE"].filter { endpoints[$0] != nil }.joined(separator: ", ")
        #expect(endpoints[method] == nil && allowed == allow, "\(method) \(path)")
      case .notFound, nil: Issue.record("\(method) \(path)")
      }
    }
    #expect(DeviceEndpoint.find(try head("GET \(path)?wait=25 HTTP/1.1")) != nil)
  }

  /// The table above has all that the program has.
  @Test func everyRowIsInTheTable() {
    #expect(DeviceEndpoint.rows.count == Self.table.reduce(0) { $0 + $1.endpoints.count })
    #expect(
      Set(DeviceEndpoint.rows.map { "\($0.method) \($0.path.text)" }).count == DeviceEndpoint.rows.count)
  }

  @Test func oneRowIsAnothersOnlyWithTheSameIdentifier() throws {
    let other = try head("GET /approvals/\(Self.id.replacing("0123", with: "4567")) HTTP/1.1")
    let (first, second) = (try head("GET /approvals/\(Self.id) HTTP/1.1"), DeviceEndpoint.find(other))
    #expect(DeviceEndpoint.find(first) == DeviceEndpoint.find(first))
    #expect(DeviceEndpoint.find(first) != second)
    #expect(
      DeviceEndpoint.find(first) != DeviceEndpoint.find(try head("DELETE /approvals/\(Self.id) HTTP/1.1")))
  }

  /// No reader spends a challenge before the form is whole, and none refuses an empty one by anything else than a member.
  @Test func emptyForms() throws {
    struct None: RequestChallenges {
      func spend(_ nonce: Bytes32, for scope: ChallengeScope) throws(Refusal) -> SpentNonce {
        Issue.record("spent")
        throw Refusal(.nonceInvalid, step: "nonce_unknown")
      }

      func issue(for scope: ChallengeScope) throws(Refusal) -> Challenge {
        Issue.record("issued")
        throw Refusal(.overloaded, step: "challenges_per_second")
      }
    }
    let form = try Form(body: Array("{}".utf8).span, checkedBy: P256Verifier())
    var read = 0
    for row in DeviceEndpoint.rows {
      guard case .registry(let bind) = row.answer, case .withBody(let reader)? = bind(Self.id) else {
        continue
      }
      let path = row.path.text.replacing("{id}", with: Self.id)
      guard case .endpoint(let endpoint)? = DeviceEndpoint.find(try head("POST \(path) HTTP/1.1")) else {
        Issue.record("\(path)")
        continue
      }
      let request = DeviceRequest(
        endpoint: endpoint, query: try DeviceQuery(nil, allowing: []), clientVersion: nil)
      let server = ServerID(random: SeededEntropy(1))
      do throws(Refusal) {
        _ = try reader(DeviceBody(request, form, server: server, challenges: None()))
      } catch {
        #expect(error.code == .badRequest, "\(path): \(error.step)")
      }
      read += 1
    }
    #expect(read == 17)
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
    #expect(DeviceEndpoint.find(try head("GET \(path) HTTP/1.1")) == .notFound)
    #expect(DeviceEndpoint.find(try head("POST \(path) HTTP/1.1")) == .notFound)
  }

  @Test(arguments: [
    "/", "/device", "/devices/self", "/mobile", "/mobile/attest/", "/mobile/attested", "/paired",
    "/approvals2",
    "/leases", "/presence", "/auth", "/auth/otp2", "/.well-known/", "/.well-known/jwks.jsonx",
    "/play/device/self",
    "/attest/challenge", "/healthz",
  ])
  func otherPathsAreNotTheirs(path: String) throws {
    #expect(DeviceEndpoint.find(try head("GET \(path) HTTP/1.1")) == nil)
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
