import AppAttest
import Bytes
import Device
import Dialing
import Foundation
import Identity
import JSON
import Kit
import Obligation
import System
import Testing
import Time

/// The app against a gate of a few lines that keeps no state: what exactly goes over the wire.
@Suite(
  .enabled(if: Obligation.runs(Tool.path("python3") != nil, "python3"), "python3 is not installed"),
  .timeLimit(.minutes(2)))
struct SimulatedAppTests {
  private static let appID = "ABCDE12345.org.example.game"
  private let folder: TestFolder
  private let server: ServerProcess
  private let client: GateClient
  private let app: SimulatedApp
  private let authority: TestAttestationAuthority

  init() throws {
    folder = try TestFolder("device-")
    try DevelopmentCertificates.make(names: [], password: "x", now: SystemClock().wall())
      .write(to: folder.path, overwriting: false)
    authority = try .load(from: folder.path)
    let script = try folder.write("gate.py", Self.gate)
    server = try ServerProcess(
      Tool.path("python3") ?? "", ["-u", script, folder.file("server.pem"), folder.file("server-key.pem")],
      marker: "PORT ")
    client = try GateClient(
      GateURL(host: "localhost", port: server.port), trust: .authorities(path: folder.file("ca.pem")),
      timeout: .seconds(60))
    app = SimulatedApp(client, try .generate(appID: Self.appID, environment: .development))
  }

  @Test func challengesAreReadAsTheSpecificationHasThem() throws {
    let challenge = try app.challenge()
    #expect(challenge.nonce == String(repeating: "0f", count: 32))
    #expect(challenge.expires == UnixTime(milliseconds: 1_790_000_000_000))
    #expect(challenge.clientDataHash.hex == SHA256Digest.of([UInt8](repeating: 0x0F, count: 32)))
  }

  @Test(arguments: [
    "", "[]", "{}", "{\"nonce\":\"0f\",\"expires\":1}",
    "{\"nonce\":\"\(String(repeating: "0F", count: 32))\",\"expires\":1}",
    "{\"nonce\":\"\(String(repeating: "0f", count: 32))\"}",
    "{\"nonce\":\"\(String(repeating: "0f", count: 32))\",\"expires\":\"1\"}",
  ])
  func whatIsNoChallengeIsNotTakenForOne(json: String) {
    #expect(Challenge(json: Array(json.utf8)) == nil)
  }

  @Test func aRegistrationIsWhatTheGateReads() throws {
    let challenge = try app.challenge()
    let attestation = try app.enclave.attest(
      clientDataHash: challenge.clientDataHash, by: authority, now: SystemClock().wall())
    // This gate answers with the body that it was sent.
    let echoed = try app.register(attestation, for: challenge)
    #expect(echoed["Content-Type-Was"] == "application/json")
    let object = try #require(try JSONValue(parsing: echoed.body.span, depthLimit: 8).object)
    #expect(object["keyId"]?.string == app.enclave.keyIdentifier.base64)
    #expect(object["attestation"]?.string == Data(attestation).base64EncodedString())
    #expect(object["clientData"]?.string == challenge.nonce)
    try app.register(with: authority)
  }

  @Test func requestsShareOneConnection() throws {
    let ports = try (0..<3).map { _ in try #require(try client.get("/attest/challenge")["Your-Port"]) }
    #expect(Set(ports).count == 1)
    #expect(try client.post("/attest/register", json: [])["Your-Port"] == ports[0])
  }

  @Test func aConnectionClosedMeanwhileIsReplaced() throws {
    let first = try #require(try client.get("/last")["Your-Port"])
    // The server has closed without saying so in its response.
    let second = try #require(try client.get("/attest/challenge")["Your-Port"])
    #expect(first != second)
  }

  @Test func admissionHeadersCarryTheAssertion() throws {
    let challenge = try app.challenge()
    let honest = try app.admission(for: challenge)
    let fields = honest.fields
    #expect(fields.map(\.name) == ["X-App-Assert-KeyId", "X-App-Assert-Data", "X-App-Assert-Nonce"])
    #expect(fields[0].value == app.enclave.keyIdentifier.base64)
    #expect(Data(base64Encoded: fields[1].value) == Data(honest.assertion))
    #expect(fields[2].value == challenge.nonce)
    #expect(app.enclave.signCount == 1)
    _ = try app.admission(for: challenge, signCount: 9)
    #expect(app.enclave.signCount == 1)
  }

  @Test func otherAnswersAreRefusals() throws {
    let error = #expect(throws: GateClientError.self) { _ = try app.connect(path: "/") }
    guard case .refused(let response) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(response.status == 404)
  }

  private static let gate = """
    import http.server, json, ssl, sys

    class Gate(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def answer(self, status, body):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Your-Port", str(self.client_address[1]))
            self.send_header("Content-Type-Was", self.headers.get("Content-Type", ""))
            self.end_headers()
            self.wfile.write(body)
        def do_GET(self):
            if self.path == "/last": self.close_connection = True
            known = self.path in ("/attest/challenge", "/last")
            nonce = {"nonce": "0f" * 32, "expires": 1790000000000}
            self.answer(200 if known else 404, json.dumps(nonce).encode())
        def do_POST(self):
            self.answer(200, self.rfile.read(int(self.headers["Content-Length"])))
        def log_message(self, *arguments): pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print("PORT %d" % server.server_address[1])
    server.serve_forever()
    """
}
