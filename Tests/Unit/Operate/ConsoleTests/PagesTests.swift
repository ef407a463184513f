/// Every page, whatever it is filled with: it is well-formed, nothing in it can run or lead elsewhere, it can be found one's
/// way in without eyes, and it is short.
import Foundation
import JSON
import PortcullisProtocol
import System
import Testing
import Time

@testable import Console

@Suite struct PagesTests {
  /// Markup, quotes, the ends of everything, directions, what no XML may hold, ten thousand letters, and marks upon marks.
  static let hostile =
    "\"'><script>alert(1)</script><img src=x onerror=alert(1)> style=\"x\" --></title></textarea>]]>&amp;\u{202E}\u{2066}"
    + "\u{0}\u{1B}\u{FFFE}\r\n\u{E000}javascript:alert(1)//evil.example/../"
    + String(repeating: "a\u{301}\u{302}\u{303}\u{304}\u{305}", count: 400)
    + String(repeating: "A", count: 10_000)

  struct Contents: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let samples: Samples
  }

  static let contents = [
    Contents(testDescription: "empty", samples: .empty), Contents(testDescription: "full", samples: .full),
    Contents(testDescription: "with problems", samples: .wrong),
    Contents(testDescription: "hostile", samples: Samples(rows: 5, hasProblems: true) { _ in hostile }),
  ]
  static let longest = Contents(testDescription: "hostile and full", samples: Samples { _ in hostile })

  static func documents(_ samples: Samples) -> [(name: String, bytes: [UInt8], page: ReadPage)] {
    let pages = samples.pages.map { ($0.name, $0.page.html(samples.frame)) } + samples.alone
    return pages.map { ($0.0, $0.1, ReadPage($0.1)) }
  }

  @Test(arguments: contents) func areWellFormed(_ contents: Contents) {
    for (name, _, page) in Self.documents(contents.samples) {
      #expect(page.problem == nil, "\(name)")
      #expect(page.elements.first?.attributes["lang"] == "en", "\(name)")
      #expect(page.all("title").first?.text.isEmpty == false, "\(name)")
    }
  }

  /// No style, no handler, no script but the one that is ours, no address but our own: whoever calls himself what he likes.
  @Test(arguments: contents) func nothingRuns(_ contents: Contents) {
    let addresses: Set = ["href", "src", "action", "data-live-from"]
    for (name, bytes, page) in Self.documents(contents.samples) {
      let text = String(decoding: bytes, as: UTF8.self)
      for mark in ["<script>", "<img", "\u{202E}", "\u{2066}", "onerror=alert(1)>", "\u{0}", "\u{1B}"] {
        #expect(!text.contains(mark), "\(name) has \(mark.debugDescription)")
      }
      for element in page.elements {
        #expect(Element(rawValue: element.name) != nil, "\(name): \(element.name)")
        for (attribute, value) in element.attributes {
          #expect(!attribute.hasPrefix("on") && attribute != "style", "\(name): \(attribute)")
          guard addresses.contains(attribute) else { continue }
          let isOurs = value.hasPrefix("#") || (value.hasPrefix("/") && !value.hasPrefix("//"))
          #expect(isOurs, "\(name): \(attribute)=\(value)")
          #expect(!value.split(separator: "/").contains(".."), "\(name): \(value)")
        }
        if element.name == "script" {
          #expect(element.text.isEmpty && element.attributes["src"] == "/console.js", "\(name)")
        }
      }
    }
  }

  /// The script shows what the JSON says, as it is.
  @Test(arguments: contents) func nothingHidesInTheJSON(_ contents: Contents) {
    for (name, page) in contents.samples.pages {
      let hidden = String(decoding: page.json(Waiting()), as: UTF8.self).unicodeScalars.filter(
        ShownText.isHidden)
      #expect(hidden.isEmpty, "\(name)")
    }
  }

  @Test(arguments: contents) func everyChangeCarriesTheToken(_ contents: Contents) {
    var changes = 0
    for (name, _, page) in Self.documents(contents.samples) {
      for (index, form) in page.elements.enumerated() where form.name == "form" {
        let fields = page.elements.filter { $0.name == "input" && $0.path.contains(index) }
        let tokens = fields.filter { $0.attributes["name"] == "token" }
        if form.attributes["method"] == "get" {
          #expect(tokens.isEmpty, "\(name): a search would show the token in its address")
        } else if form.attributes["action"]?.hasPrefix("/sign-in/") != true {
          changes += 1
          #expect(form.attributes["method"] == "post", "\(name)")
          #expect(tokens.count == 1 && tokens[0].attributes["type"] == "hidden", "\(name)")
        }
      }
    }
    #expect(changes > 20)
  }

  /// Who may only look sees no form but his own way out.
  @Test func withoutTheRightThereAreNoButtons() {
    var frame = Samples.full.frame
    frame.mayChange = false
    for (name, page) in Samples.full.pages
    where ![
      "session-end", "key-revoke", "device-confirm", "device-confirm-plain", "device-revoke", "drain-end",
    ]
    .contains(name) {
      let posts = ReadPage(page.html(frame)).all("form").filter { $0.attributes["method"] == "post" }
      #expect(posts.map { $0.attributes["action"] } == ["/sign-out"], "\(name)")
    }
  }

  // MARK: For everybody

  @Test(arguments: contents) func headingsLabelsAndLandmarks(_ contents: Contents) {
    for (name, _, page) in Self.documents(contents.samples) {
      let ids = page.elements.compactMap { $0.attributes["id"] }
      #expect(Set(ids).count == ids.count, "\(name): \(ids)")
      #expect(page.all("h1").count == 1, "\(name)")
      #expect(page.all("main").count == 1, "\(name)")
      let ranks = page.all("h1", "h2").compactMap { $0.name.last?.wholeNumberValue }
      for (before, rank) in zip(ranks, ranks.dropFirst()) { #expect(rank <= before + 1, "\(name): \(ranks)") }
      for attribute in ["for", "aria-labelledby", "aria-describedby"] {
        for value in page.elements.compactMap({ $0.attributes[attribute] }) {
          for word in value.split(separator: " ") { #expect(ids.contains(String(word)), "\(name): \(word)") }
        }
      }
      for anchor in page.elements.compactMap({ $0.attributes["href"] }) where anchor.hasPrefix("#") {
        #expect(ids.contains(String(anchor.dropFirst())), "\(name): \(anchor)")
      }
      let labelled = Set(page.all("label").compactMap { $0.attributes["for"] })
      for field in page.all("input", "select") where field.attributes["type"] != "hidden" {
        #expect(field.attributes["id"].map(labelled.contains) == true, "\(name): \(field.attributes)")
      }
      for link in page.all("a", "button") {
        let text = link.text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(!text.isEmpty, "\(name): \(link.attributes)")
      }
    }
  }

  @Test(arguments: contents) func tablesSayWhatTheyAre(_ contents: Contents) {
    for (name, _, page) in Self.documents(contents.samples) {
      #expect(page.all("caption").count == page.all("table").count, "\(name)")
      #expect(page.all("caption").allSatisfy { !$0.text.isEmpty }, "\(name)")
      for heading in page.all("th") {
        #expect(["row", "col"].contains(heading.attributes["scope"]), "\(name)")
      }
      for time in page.all("time") {
        #expect(time.attributes["title"] == time.attributes["datetime"], "\(name)")
        #expect(time.attributes["title"].flatMap { UnixTime(timestamp: $0) } != nil, "\(name)")
      }
    }
  }

  /// A page with problems leads to each field, and says there again what is wrong.
  @Test func problemsLeadToTheirFields() throws {
    let page = ReadPage(Samples.wrong.confirmDevice.html(Samples.wrong.frame))
    let field = try #require(page.all("input").first { $0.attributes["name"] == "digits" })
    let summary = try #require(page.elements.first { $0.attributes["role"] == "alert" })
    let id = try #require(field.attributes["id"])
    #expect(page.all("a").contains { $0.attributes["href"] == "#\(id)" })
    #expect(summary.text.contains("This is not what belongs here"))
    #expect(field.attributes["aria-invalid"] == "true")
    #expect(field.attributes["aria-describedby"]?.contains("problem-digits") == true)
    #expect(page.all("title").first?.text.hasPrefix("Error: ") == true)
  }

  /// What meets the eye first: the worst of all checks, a drain as what it is, and nothing good where nobody has looked.
  @Test(
    arguments: [
      ([], "Not known yet"), ([("disk", .good)], "All is well"),
      ([("draining", .bad), ("disk", .good)], "The gate is draining"),
      ([("disk", .good), ("game", .doubtful)], "The game is away"),
      ([("draining", .bad), ("key_store", .bad)], "The key store cannot be written"),
      ([("game", .doubtful), ("loops", .bad)], "An event loop does not answer"),
    ] as [([(String, Standing)], String)])
  func theVerdict(checks: [(String, Standing)], expected: String) throws {
    var overview = Samples.full.overview
    overview.checks = checks.map { HealthCheck(name: $0.0, standing: $0.1) }
    let page = ReadPage(overview.html(Samples.full.frame))
    let verdict = try #require(page.elements.first { $0.attributes["data-live"] == "verdict" })
    #expect(verdict.text == expected)
    let json = overview.json(Waiting())
    #expect(
      try JSONValue(parsing: json.span, depthLimit: 12).object?["live"]?.object?["verdict"]?.string
        == expected)
  }

  /// All is not well in the week before a certificate ends, whatever the checks say.
  @Test(
    arguments: [
      (8, "All is well", nil), (6, "A certificate ends soon", "until"),
      (-1, "A certificate’s time is over", "over since"),
    ] as [(Int64, String, String?)])
  func aCertificateThatEnds(days: Int64, verdict: String, detail: String?) throws {
    var overview = Samples.full.overview
    overview.checks = [HealthCheck(name: "disk", standing: .good)]
    let end = UnixTime(milliseconds: overview.now.milliseconds + days * 86_400_000)
    overview.certificates = [CertificateEnd(name: "gate", endsAt: end)]
    let page = ReadPage(overview.html(Samples.full.frame))
    func live(_ name: String) -> String? {
      page.elements.first { $0.attributes["data-live"] == name }?.text
    }
    #expect(live("verdict") == verdict)
    #expect(live("verdict-detail")?.contains("gate") == (detail != nil))
    if let detail { #expect(live("verdict-detail")?.contains(detail) == true) }
  }

  /// A search that stopped early has not found that there are none.
  @Test func anEmptyPageThatGoesOn() {
    var keys = Samples.empty.keys
    func says() -> String { String(decoding: keys.html(Samples.empty.frame), as: UTF8.self) }
    keys.filter.text = "x"
    #expect(says().contains("No key is like that."))
    keys.end = ListEnd(next: "abc")
    #expect(says().contains("goes on with the next page") && !says().contains("No key is like that."))
    keys.end = ListEnd(isFirst: false)
    #expect(says().contains("There are no more."))
  }

  /// Also where no row of the page has it.
  @Test func theChosenEventIsAmongTheChoices() {
    var audit = Samples.full.audit
    audit.filter.event = "device_revoked"
    audit.events = ["reloaded"]
    let options = ReadPage(audit.html(Samples.full.frame)).all("option")
    #expect(options.compactMap { $0.attributes["value"] } == ["", "device_revoked", "reloaded"])
    #expect(options.first { $0.attributes["selected"] != nil }?.attributes["value"] == "device_revoked")
  }

  /// A search by text through the sessions is dear, and the first phone that shows digits comes while the page is open.
  @Test func whichListsAreLive() {
    func isLive(_ page: some ConsolePage) -> Bool {
      ReadPage(page.html(Samples.full.frame)).all("main").first?.attributes["data-live-from"] != nil
    }
    var sessions = Samples.full.sessions
    sessions.filter.text = ""
    sessions.end.isFirst = true
    #expect(isLive(sessions))
    sessions.filter.text = "anna"
    #expect(!isLive(sessions))
    var devices = Samples.empty.devices
    devices.filter = .init(text: "", subject: "")
    #expect(isLive(devices))
    let tables = ReadPage(devices.html(Samples.full.frame)).all("table")
    #expect(tables.compactMap { $0.attributes["data-table"] } == ["pairings", "devices"])
    devices.filter.subject = "anna"
    #expect(!isLive(devices))
    var keys = Samples.full.keys
    (keys.filter, keys.end.isFirst) = (.init(text: "", app: "", state: nil, since: "", until: ""), true)
    #expect(isLive(keys))
    keys.end.isFirst = false
    #expect(!isLive(keys))
    (keys.filter.app, keys.end.isFirst) = ("a", true)
    #expect(!isLive(keys))
  }

  @Test func aReloadThatALoopHasNotTakenIsNoRefusal() throws {
    var configuration = Samples.full.configuration
    configuration.lastReload = .late
    let page = ReadPage(configuration.html(Samples.full.frame))
    let said = try #require(page.elements.first { $0.attributes["role"] == "status" })
    #expect(said.text.contains("was taken") && said.text.contains("does not turn"))
  }

  /// Who has begun a change is not told that nothing happened, nor just to try again.
  @Test func whatMayHaveBeenDoneIsNotCalledBusy() {
    let page = ErrorPage(kind: .unavailable, detail: "The disk is <full>.", isPerhapsDone: true)
    let text = String(decoding: page.html(Samples.full.frame), as: UTF8.self)
    #expect(text.contains("This may have been done") && text.contains("The disk is &lt;full&gt;."))
    #expect(text.contains("look at how it is now") && !text.contains("Another search"))
  }

  /// Ending all sessions is for good, and no button says otherwise.
  @Test(arguments: [true, false]) func whatADrainLeadsBackTo(isFinal: Bool) {
    var drain = Samples.full.drain(true)
    drain.isFinal = isFinal
    let page = ReadPage(drain.html(Samples.full.frame))
    #expect(page.all("form").contains { $0.attributes["action"] == "/undrain" } == !isFinal)
    #expect(page.elements.contains { $0.text.contains("started again") })
  }

  /// Digits where the phone shows some, and whose it is where nobody has said so yet.
  @Test(arguments: [("device-confirm", ["digits"]), ("device-confirm-plain", ["subject"])])
  func whatConfirmingAsks(name: String, fields: [String]) throws {
    let page = try #require(Samples.full.pages.first { $0.name == name }).page
    let asked = ReadPage(page.html(Samples.full.frame)).all("input").filter {
      $0.attributes["type"] == "text" && $0.attributes["name"] != "find"
    }
    #expect(asked.compactMap { $0.attributes["name"] } == fields)
  }

  // MARK: Size

  @Test func theFirstPageIsShort() {
    let page = Samples.full.overview.html(Samples.full.frame)
    let whole = ConsoleAsset.allCases.reduce(page.count) { $0 + $1.bytes.count }
    #expect(whole <= 60 * 1024, "\(page.count) of \(whole)")
  }

  @Test(arguments: contents + [longest]) func noPageIsLong(_ contents: Contents) {
    let isOrdinary = !contents.testDescription.hasPrefix("hostile")
    for (name, bytes, _) in Self.documents(contents.samples) {
      #expect(bytes.count <= (isOrdinary ? 60 : 300) * 1024, "\(name): \(bytes.count)")
    }
  }

  /// The same names in the page and in its JSON: what the script looks for is there.
  @Test(arguments: contents) func theScriptFindsItsNames(_ contents: Contents) throws {
    for (name, page) in contents.samples.pages {
      let read = ReadPage(page.html(contents.samples.frame))
      let bytes = page.json(Waiting())
      let object = try #require(try JSONValue(parsing: bytes.span, depthLimit: 12).object, "\(name)")
      guard read.all("main").first?.attributes["data-live-from"] != nil else { continue }
      let live = try #require(object["live"]?.object)
      for word in read.elements.compactMap({ $0.attributes["data-live"] })
      where !word.hasPrefix("findings") {
        #expect(live[word] != nil, "\(name): \(word)")
      }
      let rows = try #require(object["rows"]?.object)
      for table in read.all("table") {
        let word = try #require(table.attributes["data-table"])
        #expect(rows[word]?.array != nil, "\(name): \(word)")
      }
      for drawing in read.all("svg").compactMap({ $0.attributes["data-chart"] }) {
        #expect(object["charts"]?.object?[drawing] != nil, "\(name): \(drawing)")
      }
    }
  }

  @Test func everyCodeHasItsSentence() {
    for code in RefusalCode.allCases { #expect(RefusalAdvice.texts[code] != nil, "\(code.rawValue)") }
    let texts = RefusalCode.allCases.map(RefusalAdvice.text)
    #expect(Set(texts).count == texts.count)
    #expect(texts.allSatisfy { $0.hasSuffix(".") && $0.count <= 130 })
  }
}
