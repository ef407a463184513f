/// How each page is filled: from a gate that runs, with what is in its stores, as a page and as JSON.
import Admin
import Bytes
import Confinement
import Control
import Crypto
import Identity
import JSON
import KeyStore
import Registry
import Synchronization
import System
import TestGate
import Testing
import Time

@testable import Console

@Suite struct PresenterTests {
  /// The pages of one gate, while `body` runs.
  private func withPages(
    devices hasDevices: Bool = true, _ body: (TestGate, ConsolePages) throws -> Void
  ) throws {
    let running = try TestGate(withDevices: hasDevices)
    let clock = SystemClock()
    let checks = GateChecks(
      gate: running.gate, devices: running.devices, running.configuration,
      isDraining: { [control = running.control] in control.isDraining }, clock: clock)
    let pages = ConsolePages(
      ConsolePages.Sources(
        gate: running.gate, control: running.control, store: running.store, pseudonyms: nil,
        settings: running.settings, hasDevices: hasDevices, log: running.logger, name: "test-host"),
      checks: checks,
      kernel: KernelFeatures(release: "6.1.0", landlock: 6, filtersCalls: true))
    let outcome = Result { try body(running, pages) }
    running.end()
    try outcome.get()
  }

  private func request(
    _ path: String, query: [(name: String, value: String)] = [],
    form: [(name: String, value: String)]? = nil, scopes: Set<AdminActor.Scope> = [.read, .write]
  ) -> AdminRequest {
    AdminRequest(
      path: path, isChange: form != nil, query: AdminForm(query), form: AdminForm(form ?? []),
      actor: AdminActor(name: "anna", scopes: scopes, user: 1000), formToken: "token")
  }

  /// As the listener asks: at once where that is possible, else on the slow thread.
  private func answer(_ pages: ConsolePages, _ request: AdminRequest) -> AdminAnswer {
    pages.answerAtOnce(request) ?? pages.work(request)
  }

  private func text(_ answer: AdminAnswer) -> (status: Int, text: String) {
    switch answer {
    case .page(let status, let bytes), .json(let status, let bytes):
      (status.rawValue, String(decoding: bytes, as: UTF8.self))
    case .seeOther(let path): (303, path)
    case .asset(_, let bytes): (200, String(decoding: bytes, as: UTF8.self))
    case .stream(_, let name, let body):
      (200, name + "\n" + (body.next().map { String(decoding: $0, as: UTF8.self) } ?? ""))
    }
  }

  private static func key(_ number: UInt8) -> NewKey {
    let point = P256Point(
      x: Bytes32(words: 1, 2, 3, UInt64(number)), y: Bytes32(words: 1, 2, 3, UInt64(number) + 1))
    return NewKey(
      identifier: KeyIdentifier(SHA256.hash(point.x963.span)), publicKey: point, appID: TestGate.appID,
      environment: .production, registeredAt: UnixTime(milliseconds: 1_771_286_400_000))
  }

  @Test(arguments: [
    ("/", "Overview"), ("/sessions", "Sessions"), ("/keys", "Keys"), ("/refusals", "Refusals"),
    ("/configuration", "Configuration"), ("/drain", "Drain"), ("/devices", "Devices"),
    ("/approvals", "Approvals"), ("/audit", "Audit"), ("/search", "Search"), ("/hours", "The last 24 hours"),
    ("/devices/pair", "Pair a phone"),
  ])
  func everyPageOfAGateThatHasJustBegun(path: String, heading: String) throws {
    try withPages { _, pages in
      let page = text(answer(pages, request(path)))
      #expect(page.status == 200 && page.text.contains("<h1>\(heading)"), "\(page.text.prefix(400))")
      #expect(page.text.contains("test-host") && page.text.contains("anna"))
      let json = text(answer(pages, request(path == "/" ? "/api/overview" : "/api\(path)")))
      let bytes = Array(json.text.utf8)
      let object = try JSONValue(parsing: bytes.span, depthLimit: 16).object
      #expect(json.status == 200 && object?.members.isEmpty == false)
    }
  }

  @Test(arguments: ["/devices", "/approvals", "/audit", "/devices/x/confirm"])
  func withoutDevicesTheirPagesSaySo(path: String) throws {
    try withPages(devices: false) { _, pages in
      let page = text(answer(pages, request(path)))
      #expect(page.status == 404 && page.text.contains("set DEVICES_PATH and PUBLIC_URL"))
    }
  }

  @Test(arguments: ["/nothing", "/keys/zzzz", "/sessions/7", "/sessions/07", "/api/", "/devices/no-id"])
  func whatThereIsNotIsNotFound(path: String) throws {
    try withPages { _, pages in
      let status = text(answer(pages, request(path))).status
      #expect(status == 404 || path == "/devices/no-id" && status == 400)
    }
  }

  @Test func keysAreListedShownSearchedAndRevoked() throws {
    try withPages { running, pages in
      let (first, second) = (running.register(Self.key(1)), running.register(Self.key(9)))
      let list = text(answer(pages, request("/keys")))
      #expect(list.text.contains(first.identifier.short) && list.text.contains(second.identifier.short))
      let name = first.identifier.base64.replacing("+", with: "-").replacing("/", with: "_").replacing(
        "=", with: "")
      let page = text(answer(pages, request("/keys/\(name)")))
      #expect(page.status == 200 && page.text.contains(TestGate.appID))
      let ask = text(answer(pages, request("/keys/\(name)/revoke")))
      #expect(ask.status == 200 && ask.text.contains("reason"))
      let done = text(answer(pages, request("/keys/\(name)/revoke", form: [("reason", "lost <phone>")])))
      #expect(done.status == 303, "\(done)")
      let record = try #require(running.store.find(first.identifier))
      #expect(record.revokedReason == "lost <phone>")
      let revoked = text(answer(pages, request("/keys/\(name)")))
      #expect(revoked.text.contains("lost &lt;phone&gt;") && !revoked.text.contains("<phone>"))
      let export = text(answer(pages, request("/keys/export")))
      #expect(export.text.contains(first.identifier.base64) && export.text.contains(second.identifier.base64))
    }
  }

  /// The code is there as long as it is of use, and for who may pair.
  @Test func aPairingIsOpenedShownAndGivenUp() throws {
    try withPages { _, pages in
      let wrong = text(answer(pages, request("/devices/pair", form: [("name", "a\nb")])))
      #expect(wrong.status == 400 && wrong.text.contains("Invalid name of a phone"))
      let opened = text(answer(pages, request("/devices/pair", form: [("subject", "anna")])))
      #expect(opened.status == 303 && opened.text.hasSuffix("?done=pairing-opened"))
      let path = String(opened.text.prefix { $0 != "?" })
      let shown = text(answer(pages, request(path)))
      #expect(shown.text.contains("QR code for the camera") && shown.text.contains("anna"))
      #expect(shown.text.contains("name=\"digits\""))
      let looked = text(answer(pages, request(path, scopes: [.read])))
      #expect(looked.status == 200 && !looked.text.contains("QR code") && !looked.text.contains("digits\""))
      #expect(text(answer(pages, request(path, form: [("digits", "12345")]))).status == 400)
      #expect(text(answer(pages, request(path, form: [("digits", "123456")]))).status == 409)
      #expect(text(answer(pages, request(path + "/end", form: []))).status == 303)
      let over = text(answer(pages, request(path)))
      #expect(over.text.contains("The pairing is over") && !over.text.contains("QR code"))
    }
  }

  @Test func aKeyIsFoundByItsBeginning() throws {
    try withPages { running, pages in
      let key = running.register(Self.key(3)).identifier
      for name in [key.short, String(key.base64.prefix(4)), key.base64] {
        let page = text(answer(pages, request("/search", query: [("find", " \(name) ")])))
        #expect(page.status == 200 && page.text.contains("Keys that begin so"), "\(name)")
      }
      let none = text(answer(pages, request("/search", query: [("find", "<b>zz")])))
      #expect(none.text.contains("Nothing is called") && !none.text.contains("<b>"))
    }
  }

  @Test func aDrainIsBegunAndTakenBack() throws {
    try withPages { running, pages in
      #expect(text(answer(pages, request("/drain", form: []))).status == 303)
      #expect(running.control.isDraining)
      #expect(text(answer(pages, request("/drain"))).text.contains("raining"))
      #expect(text(answer(pages, request("/undrain", form: []))).status == 303)
      #expect(!running.control.isDraining)
    }
  }

  /// What is ordered in the registry is in the audit, with who did it.
  @Test func theAuditNamesWhoHasChangedSomething() throws {
    try withPages { running, pages in
      let order = RegistryOrder(
        .servicesAdd, [("name", .string("mud")), ("scopes", .array([.string("approvals")]))])
      guard case .registry = running.control.answer(order, by: .console(name: "anna", user: 1000)) else {
        Issue.record("the order was refused")
        return
      }
      let page = text(answer(pages, request("/audit")))
      #expect(page.text.contains("service_added") && page.text.contains("anna"), "\(page.text.suffix(3000))")
      #expect(page.text.contains("service: mud") && !page.text.contains("service id"))
    }
  }

  @Test func theConfigurationShowsWhereAValueIsFrom() throws {
    try withPages { _, pages in
      let page = text(answer(pages, request("/configuration")))
      #expect(page.text.contains("WORKERS") && page.text.contains("environment"))
      let checked = text(answer(pages, request("/api/configuration")))
      #expect(checked.text.contains("DEVICES_PATH"))
    }
  }
}
