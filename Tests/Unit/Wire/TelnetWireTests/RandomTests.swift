import Kit
import System
import Testing
import Time

@testable import TelnetWire

/// Games and apps that say anything at all, heard by the engine in random pieces and by the model byte by byte.
@Suite struct RandomTests {
  private enum Act {
    case hear([UInt8])
    case type([UInt8])
    case update(ClientDescription)
    case link(Bool)
    case pass(UInt64)
  }

  @Test(arguments: 0..<12) func asTheModel(seed: UInt64) {
    var random = SplitMix(seed: seed)
    for round in 0..<30 {
      let options = settings(
        goAhead: .random(using: &random), structured: Int.random(in: 0...3, using: &random) > 0,
        address: Bool.random(using: &random) ? "2001:db8::1" : nil,
        device: Bool.random(using: &random) ? "AAECAwQFBgcICQoLDA0ODw" : nil)
      let app = Bool.random(using: &random) ? Self.app(using: &random) : nil
      let talker = Talker(options, client: app)
      let model = Model(options, app, now: talker.clock.nanoseconds)
      for step in 0..<Int.random(in: 1...60, using: &random) {
        let act = Self.act(using: &random)
        play(act, talker, model, using: &random)
        let isSame =
          talker.output == model.output && talker.happenings == model.happenings
          && talker.clock.nanoseconds == model.now
        if !isSame { return #expect(Bool(false), "seed \(seed), round \(round), step \(step): \(act)") }
      }
    }
  }

  private func play(_ act: Act, _ talker: Talker, _ model: Model, using random: inout SplitMix) {
    switch act {
    case .hear(let bytes):
      for piece in random.pieces(of: bytes, upTo: [1, 3, 20, 1000].randomElement(using: &random) ?? 1) {
        talker.receive(piece)
      }
      for byte in bytes { model.hear(byte) }
    case .type(let text):
      talker.type(text)
      model.type(text)
    case .update(let app):
      talker.engine.update(app, into: &talker.output)
      model.update(app)
    case .link(let isAttached):
      talker.engine.link(isAttached: isAttached, into: &talker.output)
      model.link(isAttached)
    case .pass(let nanoseconds):
      talker.pass(.nanoseconds(Int64(nanoseconds)))
      model.pass(nanoseconds)
    }
  }

  // MARK: What is said

  private static func act(using random: inout SplitMix) -> Act {
    switch Int.random(in: 0...19, using: &random) {
    case 0: return .type(text(using: &random))
    case 1: return .update(app(using: &random))
    case 2: return .link(.random(using: &random))
    case 3: return .pass(UInt64.random(in: 0...20_000_000_000, using: &random))
    case 4:
      return .pass(
        [999_999_999, 1_000_000_000, 60_000_000_000, 61_000_000_000].randomElement(using: &random) ?? 0)
    default:
      let parts = (0..<Int.random(in: 1...8, using: &random)).map { _ in part(using: &random) }
      return .hear(Array(parts.joined()))
    }
  }

  private static func part(using random: inout SplitMix) -> [UInt8] {
    switch Int.random(in: 0...11, using: &random) {
    case 0, 1: return text(using: &random)
    case 2...5: return [255, .random(in: 251...254, using: &random), option(using: &random)]
    case 6: return [255, [239, 249, 241, 240, 255, 246, 0].randomElement(using: &random) ?? 0]
    case 7: return flood(using: &random)
    default: return body(using: &random)
    }
  }

  private static let options: [UInt8] = [1, 3, 24, 25, 31, 39, 42, 69, 70, 86, 201, 6, 255, 0, 240]

  private static func option(using random: inout SplitMix) -> UInt8 {
    options.randomElement(using: &random) ?? 0
  }

  /// More of the same than is answered.
  private static func flood(using random: inout SplitMix) -> [UInt8] {
    let one: [UInt8] = [255, .random(in: 251...254, using: &random), option(using: &random)]
    return Array(repeatElement(one, count: Int.random(in: 2...70, using: &random)).joined())
  }

  /// Anything but SB, so that what is in a body is known.
  private static func text(using random: inout SplitMix) -> [UInt8] {
    let bytes: [UInt8] = [0, 10, 13, 255, 65, 66, 67, 0xE9, 254, 1, 249]
    return (0..<Int.random(in: 0...12, using: &random)).map { _ in bytes.randomElement(using: &random) ?? 0 }
  }

  private static func body(using random: inout SplitMix) -> [UInt8] {
    var bytes = wire("IAC SB")
    switch Int.random(in: 0...8, using: &random) {
    case 0: bytes += wire("24") + [.random(in: 0...1, using: &random)]
    case 1, 2: bytes += wire("39 1") + question(using: &random)
    case 3:
      let offers = [";UTF-8", ";utf-8", ";ISO-8859-1", ";latin1", ";KLINGON", ";"]
      bytes += wire("42 1")
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        bytes += (offers.randomElement(using: &random) ?? "").utf8
      }
    case 4:
      let known = Samples.msdp.keys.sorted { $0.lexicographicallyPrecedes($1) } + Samples.broken
      bytes += wire("69") + (known.randomElement(using: &random) ?? [])
    case 5:
      let known = Samples.mssp.keys.sorted { $0.lexicographicallyPrecedes($1) } + Samples.broken
      bytes += wire("70") + (known.randomElement(using: &random) ?? [])
    case 6, 7:
      bytes += wire("201") + (Samples.names.randomElement(using: &random) ?? "").utf8
      if Bool.random(using: &random) {
        bytes += [0x20] + ((Samples.json + Samples.notJSON).randomElement(using: &random) ?? "").utf8
      }
    default: bytes.append(option(using: &random))
    }
    // Sometimes broken off by a command.
    return bytes + wire(Int.random(in: 0...9, using: &random) == 0 ? "IAC GA" : "IAC SE")
  }

  private static func question(using random: inout SplitMix) -> [UInt8] {
    let names = [
      "", "IPADDRESS", "MTTS", "CLIENT_STATE", "CHARSET", "PORTCULLIS_DEVICE", "USER", "CLIENT_VERSION",
    ]
    var question: [UInt8] = []
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      question.append(Bool.random(using: &random) ? 0 : 3)
      question += (names.randomElement(using: &random) ?? "").utf8
    }
    return question
  }

  private static func app(using random: inout SplitMix) -> ClientDescription {
    func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
    return client(
      name: maybe("App"), version: maybe("1.2"), terminal: maybe("ANSI"), trueColor: .random(using: &random),
      screenReader: .random(using: &random), size: maybe((255, UInt16.random(in: 0...300, using: &random))),
      gmcp: maybe(maybe(["Char 1", "Room 1"]) ?? []))
  }
}
