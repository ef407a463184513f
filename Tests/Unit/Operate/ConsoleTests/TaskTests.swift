/// What an operator comes for: what waits, who plays, who may be led where, and what a page says where there is nothing.
import JSON
import Testing
import Time

@testable import Console

@Suite struct TaskTests {
  /// What waits is counted in the menu of every page, also where the script writes the number, and named on the overview.
  @Test func whatWaitsIsSaid() throws {
    let samples = Samples.full
    let page = ReadPage(samples.sessions.html(samples.frame))
    func count(_ name: String) -> String? {
      page.elements.first { $0.attributes["data-live"] == name }?.text
    }
    #expect(count("waiting-approvals") == "3" && count("waiting-devices") == "2")
    let json = try JSONValue(parsing: samples.sessions.json(samples.waiting).span, depthLimit: 12).object
    #expect(json?["live"]?.object?["waiting-approvals"]?.string == "3")
    let overview = ReadPage(samples.overview.html(samples.frame))
    let waits = try #require(overview.elements.first { $0.attributes["data-some"] == "waiting" })
    #expect(waits.text.contains("Waits for you: 3 requests, 2 phones") && waits.attributes["hidden"] == nil)
    let links = overview.all("a").compactMap { $0.attributes["href"] }
    #expect(links.contains { $0.hasPrefix("/approvals/") } && links.contains { $0.hasSuffix("/confirm") })
    var quiet = samples.frame
    quiet.waiting = Waiting()
    var nothing = samples.overview
    nothing.waiting = Waiting()
    let calm = ReadPage(nothing.html(quiet))
    #expect(calm.elements.first { $0.attributes["data-some"] == "waiting" }?.attributes["hidden"] != nil)
    #expect(calm.elements.first { $0.attributes["data-live"] == "waiting-approvals" }?.text == "")
  }

  /// A row of a session is called by who plays, and leads to it; where it may be ended it leads to that question too.
  @Test(arguments: [true, false]) func whereASessionLeads(mayEnd: Bool) {
    var sessions = Samples.full.sessions
    sessions.mayEnd = mayEnd
    let links = ReadPage(sessions.html(Samples.full.frame)).all("a")
    #expect(links.contains { $0.text == "Anna's iPhone" && $0.attributes["href"] == "/sessions/1017" })
    #expect(links.contains { $0.attributes["href"] == "/sessions/1017/end" } == mayEnd)
  }

  /// A key or a device that there is not has no page to be led to.
  @Test func whatThereIsNotIsNoLink() {
    var refusals = Samples.full.refusals
    refusals.rows = [Samples.full.refusal(1)]
    (refusals.rows[0].keyID, refusals.rows[0].deviceID) = ("TQ9cOWQ9=", "3f0c6a52")
    for isKnown in [true, false] {
      (refusals.rows[0].isKeyKnown, refusals.rows[0].isDeviceKnown) = (isKnown, isKnown)
      let page = ReadPage(refusals.html(Samples.full.frame))
      let links = page.all("a").compactMap { $0.attributes["href"] }
      #expect(links.contains("/keys/TQ9cOWQ9") == isKnown && links.contains("/devices/3f0c6a52") == isKnown)
      #expect(page.elements.contains { $0.name == "code" && $0.text == "TQ9cOWQ9…" })
    }
  }

  /// Whoever only looks could let another phone in by the code.
  @Test func theCodeIsForWhoMayPair() throws {
    let page = Samples.full.pairing(.open)
    let drawn = ReadPage(page.html(Samples.full.frame))
    #expect(drawn.all("svg").contains { $0.attributes["role"] == "img" })
    #expect(drawn.all("input").contains { $0.attributes["name"] == "digits" })
    let live = String(decoding: page.json(Waiting()), as: UTF8.self)
    #expect(!live.contains("PORTCULLIS:"))
  }

  /// Of the checks those stand in a table that are not ok, and the others in one line.
  @Test func checksThatAreOkTakeOneLine() throws {
    var overview = Samples.full.overview
    overview.checks = [
      HealthCheck(name: "disk", standing: .good), HealthCheck(name: "draining", standing: .good),
      HealthCheck(name: "game", standing: .doubtful, detail: "refused"),
    ]
    let page = ReadPage(overview.html(Samples.full.frame))
    let table = try #require(page.all("table").first { $0.attributes["data-table"] == "checks" })
    #expect(table.text.contains("game") && table.text.contains("refused") && !table.text.contains("disk"))
    let rest = page.elements.first { $0.attributes["data-live"] == "checks-rest" }
    #expect(rest?.text == "Ok: disk, not draining.")
  }

  /// Where there is nothing, a sentence says how the first comes to be, and no filter and no heads are seen.
  @Test(arguments: [
    ("sessions", "portcullis doctor"), ("keys", "portcullis keys import"),
    ("devices", "portcullis devices pair"),
    ("approvals", "portcullis approvals request"), ("refusals", "Nobody has been refused"),
  ])
  func anEmptyListSaysHowItBegins(name: String, says: String) throws {
    let samples = Samples.empty
    let html = try #require(samples.pages.first { $0.name == name }).page.html(samples.frame)
    let page = ReadPage(html)
    let blank = try #require(page.elements.first { $0.attributes["data-none"] != nil })
    #expect(blank.text.contains(says) && blank.attributes["hidden"] == nil)
    let hidden = page.elements.indices.filter { page.elements[$0].attributes["hidden"] != nil }
    for element in page.elements where ["table", "select"].contains(element.name) {
      #expect(!hidden.allSatisfy { !element.path.contains($0) }, "\(name): \(element.attributes)")
    }
  }

  /// The device that did it is a link, and what nobody reads is folded.
  @Test func theAuditNamesWhoDidIt() {
    var audit = Samples.full.audit
    var line = audit.rows[0]
    (line.actor, line.deviceID, line.deviceName) = (nil, "3f0c6a52", "Anna's iPhone")
    line.members = [("subject", "anna"), ("approval_id", "77"), ("summary", "0b5e")]
    audit.rows = [line]
    let page = ReadPage(audit.html(Samples.full.frame))
    #expect(
      page.all("a").contains { $0.text == "Anna's iPhone" && $0.attributes["href"] == "/devices/3f0c6a52" })
    let folded = page.all("details").first?.text ?? ""
    #expect(folded.contains("1 detail") && folded.contains("approval id: 77"))
    #expect(!folded.contains("subject") && !page.elements[0].text.contains("0b5e"))
  }

  /// By its name: an id says nothing to a reader.
  @Test func theAuditNamesTheServiceThatDidIt() {
    var audit = Samples.full.audit
    var line = audit.rows[0]
    (line.event, line.actor, line.service) = ("approval_asked", nil, "mud")
    audit.rows = [line]
    let page = ReadPage(audit.html(Samples.full.frame))
    #expect(page.all("td").contains { $0.text == "service mud" })
  }

  /// What an operator has to say is told in the row, and refusing is not as heavy as confirming.
  @Test func whatAnApprovalTakes() throws {
    var approvals = Samples.full.approvals
    approvals.pending = [Samples.full.approvalRow(0, .pending)]
    approvals.pending[0].needsOperator = true
    let page = ReadPage(approvals.html(Samples.full.frame))
    let table = try #require(page.all("table").first { $0.attributes["data-table"] == "pending" })
    #expect(table.text.contains("needs an operator and 2 phones") && table.text.contains("Deploy release"))
    let buttons = ReadPage(Samples.full.approval(.isAwaited).html(Samples.full.frame)).all("button")
    let refuse = try #require(buttons.first { $0.text == "Refuse" })
    #expect(refuse.attributes["class"] == "button outline")
  }
}
