/// The demonstration's last chapter, for whoever wants to look around: two players play on, a phone shows its digits, requests
/// wait for a phone and for an operator, and the operator's console is open until its visitor has seen enough.
internal import AppAttest
package import Configuration
internal import Device
internal import Dialing
package import Gateway
internal import Identity
package import KeyStore
package import Logs
internal import PortcullisClient
internal import System
package import TLS

/// Opens the console of a demonstration, and knows when it has been seen.
package protocol ConsoleVisit {
  /// - Returns: where a browser goes.
  func open(_ insides: Demonstration.Insides) throws -> String
  /// Whether the visitor has had enough; waits for that long at most.
  func isOver(within time: Duration) throws -> Bool
  func close()
}

extension Demonstration {
  /// What an admin listener is made for.
  package struct Insides {
    package let gate: Gate
    package let loaded: LoadedConfiguration
    package let tls: TLSMaterial
    package let devices: Devices
    package let store: KeyStore
    package let log: GateLog
  }

  func showConsole() {
    guard let visit else { return }
    tell("\nThe operator looks at it all in a browser")
    step("the console is open while two play, one asks for something, and a phone waits") { app, authority in
      // Anna by the phone that she has paired, Ben by a key of his app.
      let ben = self.folder + "/ben-plays.json"
      try SimulatedApp(
        app.client, try SoftwareEnclave.generate(appID: Self.appID, environment: .production, keptIn: ben)
      ).register(with: authority)
      let visitors = try [Credential.phone(path: self.folder + "/anna.json"), .appKey(path: ben)].map {
        try Visitor(
          through: SessionGate(url: self.sessionGate.url, trust: self.sessionGate.trust, credential: $0))
      }
      try visitors[0].type("promote radagast")
      self.service?.ask(
        ApprovalService.Question(
          operation: "shutdown", target: ("game", "Tiny MUD"),
          text: "Bob asks to restart the game for an upgrade.", subject: "anna", requester: "bob")
      ) { _ in }
      let phone = try self.showDigits(of: "Carla", vouchedBy: authority)
      defer { phone.end() }
      let address = try visit.open(self.insides)
      defer { visit.close() }
      self.tell(
        """

          \(address)

          The address is good once, for a minute. Carla's phone shows \(phone.digits): it waits under Devices.
          Enter ends the demonstration.

        """)
      while try !visit.isOver(within: .milliseconds(100)) {
        for visitor in visitors { try visitor.play() }
      }
      for visitor in visitors { try visitor.leave() }
      return "seen"
    }
  }
}

/// Somebody who walks and talks until it is enough, whatever the operator does meanwhile.
private final class Visitor {
  private let runner: SessionRunner
  private let lines = ["look", "north", "say hello", "up", "down", "south"]
  private var next = 0
  private var nextLine = Deadline.after(.zero)

  init(through gate: SessionGate) throws {
    runner = try SessionRunner(
      gate,
      options: GameOptions(
        triesFirstAgain: false, beginsAnew: false, givesUpWithSession: true, inputPatience: nil),
      client: ClientDescription(name: "Portcullis-Demo"))
    runner.begin()
  }

  func type(_ line: String) throws { try runner.send(Array((line + "\n").utf8)) }

  /// Hears what there is, and says something about once a second.
  func play() throws {
    hear()
    guard runner.end == nil, nextLine.hasPassed else { return }
    // Without a connection for long there is no room for more.
    if runner.hasRoom { try type(lines[next % lines.count]) }
    next += 1
    nextLine = .after(.seconds(1))
  }

  func leave() throws {
    let patience = Deadline.after(.seconds(10))
    runner.finish(whenSent: true)
    while runner.end == nil {
      if patience.hasPassed { throw DemonstrationFailure(description: "a player does not get away") }
      _ = try runner.wait(until: .after(.milliseconds(100)))
      hear()
    }
  }

  private func hear() {
    while !runner.takeEvents().isEmpty {}
  }
}
