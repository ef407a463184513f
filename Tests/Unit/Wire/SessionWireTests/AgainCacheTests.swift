/// The state that is said again after a gap, and its limits.
import Kit
import TelnetWire
import Testing

@testable import SessionWire

@Suite struct AgainCacheTests {
  private func cache(bufferBytes: Int = 65_536) -> AgainCache {
    AgainCache(.usual, bufferBytes: bufferBytes)
  }

  private func note(_ name: String, _ data: String?, in cache: inout AgainCache) {
    if let data {
      cache.noteGMCP(package: Array(name.utf8).span, data: Array(data.utf8).span)
    } else {
      cache.noteGMCP(package: Array(name.utf8).span, data: nil)
    }
  }

  private func messages(of cache: AgainCache) -> [String] {
    cache.messages().map { String(decoding: $0, as: UTF8.self) }
  }

  private func takes(_ selection: AgainSelection, _ name: String) -> Bool {
    selection.takes(Array(name.utf8).span)
  }

  @Test func nothing() {
    #expect(messages(of: cache()) == [#"{"type":"echo","on":false,"again":true}"#] && cache().bytes == 0)
  }

  @Test func everything() {
    var cache = cache()
    cache.noteMSSP(data: Array(#"{"NAME":"x"}"#.utf8).span)
    cache.noteMSDP(data: Array(#"{"HEALTH":"5", "ROOM":{"A":["1","2"]}}"#.utf8).span)
    note("Char.Vitals", #"{"hp":1}"#, in: &cache)
    note("Room.Info", nil, in: &cache)
    note("char.vitals", #"{"hp":2}"#, in: &cache)
    cache.noteMSDP(data: Array(#"{"HEALTH":"6"}"#.utf8).span)
    cache.noteEcho(true)
    #expect(
      messages(of: cache) == [
        #"{"type":"echo","on":true,"again":true}"#,
        #"{"type":"gmcp","package":"Room.Info","again":true}"#,
        #"{"type":"gmcp","package":"char.vitals","data":{"hp":2},"again":true}"#,
        #"{"type":"msdp","data":{"ROOM":{"A":["1","2"]},"HEALTH":"6"},"again":true}"#,
        #"{"type":"mssp","data":{"NAME":"x"},"again":true}"#,
      ])
    cache.forgetGMCP()
    #expect(messages(of: cache).count == 3)
    cache.noteEcho(false)
    #expect(messages(of: cache).first == #"{"type":"echo","on":false,"again":true}"#)
  }

  /// A game that has replaced itself begins anew.
  @Test func events() {
    var cache = cache()
    let events: [TelnetEvent] = [
      .gmcpAgreed, .msdpAgreed, .echo(true), .gmcp(package: Array("Char.Vitals".utf8), data: nil),
      .msdp(Array(#"{"A":"1"}"#.utf8)), .mssp(Array("{}".utf8)), .prompt, .needMore,
    ]
    for event in events { cache.note(event) }
    #expect(cache.messages().count == 4)
    cache.note(.gmcpAgreed)
    #expect(messages(of: cache).count == 3 && !messages(of: cache).contains { $0.contains("gmcp") })
    cache.note(.msdpAgreed)
    #expect(messages(of: cache).count == 2 && cache.bytes == 66)
  }

  @Test(arguments: [
    ("Char.Vitals", true), ("CHAR.x", true), ("Group.Members", true), ("Room.Info.Short", true),
    ("Group", false), ("Group.", false), ("Groups.A", false), ("Core.Ping", false), ("", false),
  ])
  func usualSelection(name: String, taken: Bool) {
    #expect(takes(.usual, name) == taken)
  }

  @Test func selections() throws {
    let one = try #require(AgainSelection(words: ["Core.Ping", "IRE.*"]))
    for (name, taken) in [
      ("core.ping", true), ("core.ping.x", false), ("ire.Rift.List", true), ("ire", false),
    ] {
      #expect(takes(one, name) == taken, "\(name)")
    }
    let all = try #require(AgainSelection(words: ["*"]))
    #expect(takes(all, "x"))
    let none = try #require(AgainSelection(words: []))
    #expect(!takes(none, "Char.Vitals"))
    for word in ["", ".*", ".", "Char*", "*.Char", "Ch ar", "Chär.*", "Char.**"] {
      #expect(AgainSelection(words: [word]) == nil, "\(word)")
    }
    #expect(AgainSelection(words: ["Char.*", "Room.*", "Group.*"]) == .usual)
  }

  /// At and above the number of packages: the one that was not renewed for the longest time goes.
  @Test func packages() {
    var cache = cache()
    for number in 1...32 { note("Char.\(number)", "1", in: &cache) }
    note("Char.1", "2", in: &cache)
    #expect(cache.messages().count == 33)
    note("Char.33", "1", in: &cache)
    let told = messages(of: cache)
    #expect(told.count == 33 && told.last?.contains("Char.33") == true)
    #expect(!told.contains { $0.contains("\"Char.2\"") } && told.contains { $0.contains("\"Char.1\"") })
    // Variables do not count as packages.
    cache.noteMSDP(data: Array(#"{"A":"1"}"#.utf8).span)
    #expect(cache.messages().count == 34)
  }

  /// A quarter of the session's buffer, at most 16 KiB, with what a value costs beside its bytes.
  @Test(arguments: [(65_536, 16_384), (1 << 20, 16_384), (4096, 1024)])
  func bytes(bufferBytes: Int, limit: Int) {
    var cache = cache(bufferBytes: bufferBytes)
    note("Char.Name", "1", in: &cache)
    note("Room.Info", String(repeating: "1", count: limit - 64 - 9), in: &cache)
    #expect(cache.bytes == limit && cache.messages().count == 2, "it fits, and has the room for itself")
    note("Room.Info", String(repeating: "1", count: limit - 64 - 8), in: &cache)
    #expect(cache.bytes == 0 && cache.messages().count == 1, "what it was before is no longer true")
    for number in 0..<100 { note("Room.\(number)", String(repeating: "1", count: limit / 10), in: &cache) }
    #expect(cache.bytes <= limit && cache.bytes > limit / 2)
  }

  @Test func whatIsNoObject() {
    var cache = cache()
    for data in ["", "[]", "{", #"{"A":}"#] { cache.noteMSDP(data: Array(data.utf8).span) }
    #expect(cache.messages().count == 1)
  }

  /// Ten thousand variables are taken in as many steps, where each was looked for among all that are kept before.
  @Test func manyVariables() {
    var cache = cache()
    let object = "{" + (0..<10_000).map { "\"\($0)\":\"\($0 % 10)\"" }.joined(separator: ",") + "}"
    for round in 1...3 {
      cache.noteMSDP(data: Array(object.utf8).span)
      // What would be pushed out by what comes behind it is not even taken.
      #expect(cache.entries.looks <= 2000 * round)
    }
    #expect(messages(of: cache).last?.contains("\"9999\":\"9\"") == true && cache.bytes <= 16_384)
    for number in 0..<10_000 { note("Char.\(number)", "1", in: &cache) }
    #expect(cache.entries.looks <= 5 * 10_000 + 6000 && cache.messages().count == 34)
  }

  /// Of many in one breath what is kept is the same as one after the other, also where some of them are too large.
  @Test(arguments: [4096, 65_536]) func manyVariablesAtOnce(bufferBytes: Int) {
    var random = SplitMix(seed: UInt64(bufferBytes))
    for _ in 0..<20 {
      var (together, oneByOne) = (cache(bufferBytes: bufferBytes), cache(bufferBytes: bufferBytes))
      for _ in 0..<3 {
        let members = (0..<random.next(below: 400)).map { number in
          let size = random.next(below: random.next(below: 3) == 0 ? bufferBytes / 3 : 40)
          return "\"\(number)\":\"\(String(repeating: "x", count: size))\""
        }
        together.noteMSDP(data: Array("{\(members.joined(separator: ","))}".utf8).span)
        for member in members { oneByOne.noteMSDP(data: Array("{\(member)}".utf8).span) }
        #expect(messages(of: together) == messages(of: oneByOne))
        #expect(together.bytes == oneByOne.bytes)
      }
    }
  }

  /// Against an ordered list of names and values.
  @Test(arguments: 0..<20) func random(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var cache = cache(bufferBytes: 4096)
    var model: [(name: String, data: String)] = []
    func cost(_ entry: (name: String, data: String)) -> Int {
      entry.name.utf8.count - 1 + entry.data.count + 64
    }
    for _ in 0..<2000 {
      let kind = random.next(below: 3) == 0 ? "g" : "m"
      if random.next(below: 200) == 0 {
        if kind == "g" { cache.forgetGMCP() } else { cache.forgetMSDP() }
        model.removeAll { $0.name.hasPrefix(kind) }
        continue
      }
      let name = kind == "g" ? "Char.\(random.next(below: 50))" : "V\(random.next(below: 40))"
      let size = random.next(below: 9) == 0 ? random.next(below: 1200) : random.next(below: 9)
      let data = String(repeating: "1", count: 1 + size)
      if kind == "g" {
        note(random.next(below: 2) == 0 ? name : name.uppercased(), data, in: &cache)
      } else {
        cache.noteMSDP(data: Array("{\"\(name)\":\(data)}".utf8).span)
      }
      let entry = (name: kind + name.uppercased(), data: data)
      model.removeAll { $0.name == entry.name }
      if cost(entry) <= 1024 {
        let packages = model.filter { $0.name.hasPrefix("g") }
        if kind == "g", packages.count == 32 { model.removeAll { $0.name == packages[0].name } }
        while model.reduce(0, { $0 + cost($1) }) + cost(entry) > 1024 { model.removeFirst() }
        model.append(entry)
      }
      #expect(cache.bytes == model.reduce(0) { $0 + cost($1) })
    }
    let told = messages(of: cache).dropFirst().map { $0.uppercased() }
    let packages = model.filter { $0.name.hasPrefix("g") }.map {
      "{\"TYPE\":\"GMCP\",\"PACKAGE\":\"\($0.name.dropFirst())\",\"DATA\":\($0.data),\"AGAIN\":TRUE}"
    }
    let variables = model.filter { $0.name.hasPrefix("m") }.map { "\"\($0.name.dropFirst())\":\($0.data)" }
    let object = "{\"TYPE\":\"MSDP\",\"DATA\":{\(variables.joined(separator: ","))},\"AGAIN\":TRUE}"
    #expect(told == packages + (variables.isEmpty ? [] : [object]))
  }
}
