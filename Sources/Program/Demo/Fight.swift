/// A fight in the demonstration's game, by a player who is cut off in the middle of it.
internal import Device
internal import Dialing
internal import PortcullisClient
internal import System

final class Fight {
  private let runner: SessionRunner
  private var text = ""
  private(set) var wasResumed = false
  private(set) var connections = 0
  private let patience = Deadline.after(.seconds(30))

  init(through gate: SessionGate) throws {
    runner = try SessionRunner(
      gate,
      options: GameOptions(
        triesFirstAgain: false, beginsAnew: false, givesUpWithSession: true, inputPatience: nil),
      client: ClientDescription(name: "Portcullis-Demo"))
  }

  /// - Returns: the rounds in the order that the player has seen them.
  func run() throws -> [Int] {
    runner.begin()
    try listen(for: "Exits: north.")
    try type("north")
    try type("fight")
    try listen(for: "Round 3:")
    runner.cut()
    // Typed while there is no connection: it goes out with the next one.
    try type("say still here")
    try listen(for: "You say: still here")
    try listen(for: "had enough.")
    try type("quit")
    while runner.end == nil { try wait() }
    return text.split(separator: "Round ").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
  }

  private func type(_ line: String) throws {
    try runner.send(Array((line + "\n").utf8))
  }

  private func listen(for text: String) throws {
    while !self.text.contains(text) {
      if let end = runner.end { throw DemonstrationFailure(description: "ended early: \(end)") }
      try wait()
    }
  }

  private func wait() throws {
    if patience.hasPassed { throw DemonstrationFailure(description: "the fight takes too long") }
    _ = try runner.wait(until: patience)
    for event in runner.takeEvents() {
      switch event {
      case .text(let piece): text += piece
      case .state(.attached(let isResumed)):
        connections += 1
        wasResumed = wasResumed || isResumed
      case .state, .prompt, .echo, .gmcp, .msdp, .mssp, .approvals, .codeWanted, .gap,
        .inputDropped, .doubt, .answering:
        break
      }
    }
  }
}
