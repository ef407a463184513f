/// What time, copies and forgetting do to one-time codes, what the audit says of them, and how their digits are drawn.
import Bytes
import Crypto
import DeviceWire
import JSON
import PortcullisProtocol
import Time
import Testing

@testable import Registry

@Suite struct CodeUpkeepTests {
  private struct Tend: RegistryCall {
    let all: Bool

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      if all {
        try CodeUpkeep().endAll(&transaction)
        return .reply(.answered([]))
      }
      let next = try CodeUpkeep().tend(&transaction)
      return .reply(.answered(Array("{\"next\":\(next?.seconds ?? 0)}".utf8)))
    }
  }

  @Test func whatIsOverEndsByItself() throws {
    let part = try CodePart()
    let phone = try part.phone()
    #expect(try part.part.answer(Tend(all: false)).integer("next") == 0)
    let asked = try part.challenge()
    _ = try part.code(phone, asked)
    #expect(try part.part.answer(Tend(all: false)).integer("next") == asked.integer("expires_at"))
    part.part.pass(300)
    #expect(try part.part.answer(Tend(all: false)).integer("next") == 0)
    let id = try #require(CodeChallengeID(asked["challenge_id"] ?? ""))
    let ended = try #require(try part.store.codeChallenge(id))
    #expect(ended.state == .expired && ended.code == nil && ended.text.isEmpty)
    #expect(try part.store.nonce(of: id, for: phone.id) == nil)
    part.part.pass(30 * 86_400)
    _ = try part.part.answer(Tend(all: false))
    #expect(try part.store.codeChallenge(id) != nil)
    part.part.pass(1)
    _ = try part.part.answer(Tend(all: false))
    #expect(try part.store.codeChallenge(id) == nil)
  }

  /// After a clock that was set back, or of a copy.
  @Test func allThatIsOpenEnds() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    _ = try part.verify(asked, another(than: code))
    _ = try part.part.answer(Tend(all: true))
    #expect(try part.verify(asked, code).code == .codeRejected)
    #expect(try part.list(phone).array("items").isEmpty)
    // Who has guessed has guessed.
    #expect(try part.count() == 1)
  }

  @Test func whoIsForgotten() throws {
    let part = try CodePart()
    let (phone, other) = (try part.phone(), try part.phone(of: nil))
    let asked = try part.challenge()
    let code = try part.code(phone, asked)
    _ = try part.verify(asked, another(than: code))
    let itsOwn = try part.challenge(#""device_id":"\#(other.id.text)""#)
    _ = try part.verify(itsOwn, another(than: part.code(other, itsOwn)))
    _ = try part.part.order("devices-forget", #"{"subject":"frodo"}"#)
    _ = try part.part.order("devices-forget", #"{"id":"\#(other.id.text)"}"#)
    for table in ["code_challenges", "code_devices", "wrong_codes"] {
      #expect(try part.store.count("SELECT count(*) FROM \(table)") == 0)
    }
  }

  @Test func theAuditHasNoDigits() throws {
    let part = try CodePart()
    let phone = try part.phone()
    let asked = try part.challenge(login: "secret-login", text: "secret text")
    let code = try part.code(phone, asked)
    _ = try part.verify(asked, another(than: code), login: "secret-login")
    _ = try part.verify(asked, code, login: "secret-login")
    let rows = try part.store.auditRows(after: 0, limit: 100)
    var words: [String] = []
    for case .text(let text, _) in rows.map(\.content) {
      let text = String(decoding: text, as: UTF8.self)
      #expect(!text.contains("secret") && !text.contains("\"\(code)\""))
      let bytes = Array(text.utf8)
      let row = try #require(try JSONValue(parsing: bytes.span, depthLimit: 4).object)
      guard row["challenge_id"] != nil else { continue }
      #expect(row["challenge_id"]?.string == asked["challenge_id"] && row["subject"]?.string == "frodo")
      words.append(row["event"]?.string ?? "")
    }
    #expect(words == ["code_asked", "code_issued", "code_wrong", "code_passed"])
  }

  /// Whoever asks first after a login has ended did not end it, and is not to be found by its row.
  @Test func timeHasNoNames() throws {
    let part = try CodePart()
    let (phone, other) = (try part.phone(), try part.phone(of: "sam"))
    let other2 = try part.part.service("other", scope: "codes")
    for asks in 0..<3 {
      let asked = try part.challenge()
      let code = try part.code(phone, asked)
      part.part.pass(300)
      let before = try part.store.auditEnd().sequence
      switch asks {
      case 0: _ = try part.list(other)
      case 1: _ = try part.challenge(#""subject":"sam""#, service: other2)
      default: #expect(try part.verify(asked, code).code == .codeRejected)
      }
      var rows: [JSONObject] = []
      for case .text(let text, _) in try part.store.auditRows(after: before, limit: 100).map(\.content) {
        rows.append(try #require(try JSONValue(parsing: text.span, depthLimit: 4).object))
      }
      let ended = try #require(rows.first { $0["event"]?.string == "code_ended" })
      #expect(ended["state"]?.string == "expired" && ended["subject"]?.string == "frodo")
      #expect(ended["device_id"] == nil && ended["service_id"] == nil)
    }
  }

  // MARK: Digits

  /// Bytes that follow from a number, for a result that is the same each time.
  private final class FixedEntropy: Entropy {
    private let counter = CodeCounter()

    func fill(_ bytes: inout MutableSpan<UInt8>) {
      let hash = SHA256.hash(counter.next().span).array
      for index in bytes.indices { bytes[index] = hash[index % 32] }
    }
  }

  /// Of 200,000 codes all are as likely as others: by each digit, and by the first and the last three together.
  @Test(arguments: [true, false]) func allCodesAreAsLikely(areFixed: Bool) throws {
    let entropy: any Entropy = areFixed ? FixedEntropy() : KernelEntropy()
    var draw = CodeDraw()
    for _ in 0..<CodeDraw.count { try draw.note(OneTimeCode(random: entropy).text) }
    #expect(draw.unlikely.isEmpty)
  }

  /// A tenth of the nines of one place come as eights instead.
  @Test(arguments: 0..<6) func oneDigitThatIsNot(place: Int) throws {
    let entropy = FixedEntropy()
    var draw = CodeDraw()
    for number in 0..<CodeDraw.count {
      var digits = Array(OneTimeCode(random: entropy).text)
      if digits[place] == "9", number % 10 == 0 { digits[place] = "8" }
      try draw.note(String(digits))
    }
    #expect(draw.unlikely.contains("digit \(place)") && draw.unlikely.count { $0.hasPrefix("digit") } == 1)
  }

  @Test func numbersThatWouldFavourSmallCodesAreDrawnAgain() {
    #expect(OneTimeCode(drawn: 0)?.text == "000000" && OneTimeCode(drawn: 7_000_042)?.text == "000042")
    #expect(OneTimeCode(drawn: 15_999_999)?.text == "999999")
    for number: UInt32 in [16_000_000, 16_000_001, 16_777_215] { #expect(OneTimeCode(drawn: number) == nil) }
  }

  @Test func whatIsKeptOfACode() throws {
    let keys = [try Phone.make().keys.device, try Phone.make().keys.device]
    let code = try #require(OneTimeCode(typed: "012345"))
    let plain = CodeAuthenticator(secret: Bytes32(words: 1, 2, 3, 4))
    let mac = plain.mac(of: code, for: .test(1), by: .test(2), key: keys[0])
    #expect(mac == plain.mac(of: code, for: .test(1), by: .test(2), key: keys[0]))
    let other = try #require(OneTimeCode(typed: "012346"))
    let others = [
      plain.mac(of: other, for: .test(1), by: .test(2), key: keys[0]),
      plain.mac(of: code, for: .test(3), by: .test(2), key: keys[0]),
      plain.mac(of: code, for: .test(1), by: .test(3), key: keys[0]),
      plain.mac(of: code, for: .test(1), by: .test(2), key: keys[1]),
      CodeAuthenticator(secret: Bytes32(words: 1, 2, 3, 5))
        .mac(of: code, for: .test(1), by: .test(2), key: keys[0]),
    ]
    #expect(!others.contains(mac))
  }
}

/// How often which digits have come.
private struct CodeDraw {
  static let count = 200_000

  private var places = [[Int]](repeating: [Int](repeating: 0, count: 10), count: 6)
  private var heads = [Int](repeating: 0, count: 1000)
  private var tails = [Int](repeating: 0, count: 1000)

  mutating func note(_ code: String) throws {
    let number = try #require(code.utf8.count == 6 ? Int(code) : nil)
    var rest = number
    for place in places.indices.reversed() {
      places[place][rest % 10] += 1
      rest /= 10
    }
    heads[number / 1000] += 1
    tails[number % 1000] += 1
  }

  /// What chance alone brings about once in a million draws (chi-square with 9 and with 999 degrees of freedom).
  var unlikely: [String] {
    let digits = places.indices.filter { chiSquare(places[$0]) > 45.1 }.map { "digit \($0)" }
    let threes = [("head", heads), ("tail", tails)].filter { chiSquare($0.1) > 1226.1 }.map(\.0)
    return digits + threes
  }

  private func chiSquare(_ cells: [Int]) -> Double {
    let expected = Double(Self.count) / Double(cells.count)
    return cells.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
  }
}
