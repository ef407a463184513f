/// Anything at all that may happen to a session.
import Kit
import TelnetWire

extension Play.Act {
  static func random(using random: inout SplitMix) -> Self {
    switch Int.random(in: 0...24, using: &random) {
    case 0...8: return .hear(game(using: &random))
    case 9, 10: return .type(random.flip() ? Array("say привет\r\n".utf8) : random.bytes(0...40))
    case 11: return .unknown
    case 12: return .update(client(using: &random))
    case 13: return .resize(TerminalSize(columns: .random(in: 0...300, using: &random), rows: 24))
    case 14:
      let names = ["Core.Hello", "Core.Supports.Set", "Char.Login"]
      return .say(Array((names.randomElement(using: &random) ?? "").utf8), Array("{\"a\":[1]}".utf8))
    case 15: return .report(Array("{\"REPORT\":\"HEALTH\"}".utf8))
    case 16, 17: return .gameTakes(.random(in: 0...60, using: &random))
    case 18: return .attach(missing: .random(in: 0...6, using: &random))
    case 19: return .detach
    case 20, 21: return .send(messages: .random(in: 0...20, using: &random))
    case 22: return .acknowledge(behind: .random(in: 0...5, using: &random))
    case 23: return .evict
    default: return .pass(.random(in: 0...2_000_000_000, using: &random))
    }
  }

  static func client(using random: inout SplitMix) -> ClientDescription {
    var client = ClientDescription()
    if random.flip() { client.name = ClientText(random.printable(1...8)) }
    client.hasTrueColor = random.flip()
    if random.flip() { client.size = TerminalSize(columns: 80, rows: .random(in: 1...60, using: &random)) }
    if random.flip() { client.gmcp = [Array("Char 1".utf8)] }
    return client
  }

  /// What a game says, in pieces that end anywhere.
  private static func game(using random: inout SplitMix) -> [UInt8] {
    var said: [UInt8] = []
    for _ in 0..<Int.random(in: 1...5, using: &random) { said += part(using: &random) }
    return Array(said[..<Int.random(in: 0...said.count, using: &random)])
  }

  private static func part(using random: inout SplitMix) -> [UInt8] {
    let options: [UInt8] = [1, 3, 24, 25, 31, 39, 42, 69, 70, 86, 201, 200]
    let option = options.randomElement(using: &random) ?? 1
    switch Int.random(in: 0...11, using: &random) {
    case 0, 1, 2: return Array("Ты в зале — 日本 \r\n".utf8)
    case 3: return [255, .random(in: 251...254, using: &random), option]
    case 4: return [255, [249, 239, 241, 246, 255, 240].randomElement(using: &random) ?? 249]
    case 5: return sub(201, Array("Char.Vitals {\"hp\":\(Int.random(in: 0...9, using: &random))}".utf8))
    case 6: return sub(201, Array("Room.Info.\(Int.random(in: 0...9, using: &random))".utf8))
    case 7: return sub(69, [1] + Array("HEALTH".utf8) + [2, .random(in: 0x30...0x39, using: &random)])
    case 8:
      return sub(
        42,
        [1]
          + Array([";KOI8-R", ";UTF-8", ";x"].randomElement(using: &random) ?? "").map(\.asciiValue)
          .compactMap { $0 })
    case 9: return sub([24, 39].randomElement(using: &random) ?? 24, [1])
    case 10: return [255, 251, 201, 255, 251, 69, 255, 253, 39, 255, 253, 24]
    default: return sub(option, random.bytes(0...30).filter { $0 != 255 })
    }
  }

  private static func sub(_ option: UInt8, _ body: [UInt8]) -> [UInt8] {
    [255, 250, option] + body + [255, 240]
  }
}
