/// Looks for the message that costs the gate most: by its processor time, and for each byte on the wire.
///
/// First those of `Worst`, then units by chance and changes of the best ones, in each place where a message may have them.
/// Ends with 1 where one takes longer than it may.
import FoundationEssentials
import Glibc

@main struct Adversary {
  /// What a message of 64 KiB may take on a machine that does nothing else, in microseconds. At `INPUT_RATE` such a
  /// message may come 1.25 times a second.
  static let bound = 4000.0

  private let reading = Reading()
  private var units = Units()
  private var best: [String: (message: Message, cost: Double)] = [:]
  private var tried = 0

  static func main() {
    let folder = option("--worst") ?? "Tests/Adversarial/Search/Worst"
    let seconds = Double(option("--seconds") ?? "") ?? 60
    var adversary = Adversary()
    for message in kept(in: folder) { adversary.consider(message) }
    adversary.search(for: seconds)
    print("\(adversary.tried) messages of 64 KiB in \(Int(seconds)) s\n")
    let worst = adversary.report()
    if CommandLine.arguments.contains("--keep") { adversary.keep(in: folder) }
    print("\nthe dearest: \(Int(worst)) µs; may take \(Int(bound)) µs\n")
    let body = Bodies.report()
    print("\nthe dearest body: \(Int(body)) µs; may take \(Int(Bodies.bound)) µs")
    exit(worst > bound || body > Bodies.bound ? 1 : 0)
  }

  private static func option(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    guard let place = arguments.firstIndex(of: name), place + 1 < arguments.count else { return nil }
    return arguments[place + 1]
  }

  // MARK: Searching

  private mutating func consider(_ message: Message) {
    tried += 1
    let cost = reading.cost(of: message, rounds: 3).microseconds
    if cost > best[message.frame.name]?.cost ?? 0 { best[message.frame.name] = (message, cost) }
  }

  private mutating func search(for seconds: Double) {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    while clock.now < end {
      for frame in Frame.all {
        let fresh = units.unit(of: frame.content)
        let old = best[frame.name]?.message.unit ?? ""
        let unit = units.chance(0.6) ? fresh : units.chance(0.5) ? old + fresh : fresh + old
        if unit.utf8.count <= 400 { consider(Message(frame: frame, unit: unit)) }
      }
    }
  }

  // MARK: What was found

  /// Returns what the dearest one takes.
  private func report() -> Double {
    func column(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    print(column("frame", 22) + column("µs", 8) + column("bytes", 8) + column("µs a byte", 11) + "unit")
    var worst = 0.0
    for (name, found) in best.sorted(by: { $0.value.cost > $1.value.cost }) {
      let (microseconds, wire) = reading.cost(of: found.message, rounds: 25)
      worst = max(worst, microseconds)
      let rate = (microseconds / Double(wire) * 100).rounded() / 100
      print(
        column(name, 22) + column("\(Int(microseconds))", 8) + column("\(wire)", 8) + column("\(rate)", 11)
          + found.message.unit.debugDescription.prefix(60))
    }
    return worst
  }

  /// A file for each frame: its name, and the unit.
  private func keep(in folder: String) {
    for (name, found) in best {
      let words = name.split { $0 == " " || $0 == "." }
      let text = "\(name)\n\(found.message.unit)\n"
      do {
        try text.write(
          toFile: "\(folder)/\(words.joined(separator: "-")).txt", atomically: true, encoding: .utf8)
      } catch {
        print("\(folder) cannot be written: \(error)")
      }
    }
  }

  private static func kept(in folder: String) -> [Message] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().compactMap { name in
      guard let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8),
        let end = text.firstIndex(of: "\n"),
        let frame = Frame.all.first(where: { $0.name == text[..<end] })
      else { return nil }
      return Message(frame: frame, unit: String(text[text.index(after: end)...].dropLast()))
    }
  }
}
