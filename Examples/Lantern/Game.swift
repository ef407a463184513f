/// One player's stay in the game, and what of it is on the screen.
import PortcullisClient
import SwiftUI
import UIKit

@MainActor
final class Game: ObservableObject {
  /// Your gate.
  private static let gate = URL(string: "https://localhost:8443")

  @Published private(set) var transcript = Transcript()
  @Published private(set) var state = GameState.connecting
  /// The game asks for a password.
  @Published private(set) var hidesInput = false
  /// False while the gate is silent though it was asked.
  @Published private(set) var answers = true
  @Published private(set) var vitals: [Vital] = []
  private var session: GameSession?

  /// Plays until the session is over. Comes back to the session of an earlier start of the app, where one waits.
  func play() async {
    guard let gate = Self.gate else { return }
    let client = ClientDescription(
      name: "Lantern", version: "1.0", features: ["truecolor"], columns: 80, rows: 24, gmcp: ["Char 1"])
    let session = GameSession(gate: gate, client: client, certificate: Self.certificate)
    self.session = session
    for await event in session.events { show(event) }
  }

  /// What was typed. It waits for a connection where there is none.
  /// - Returns: whether it was taken.
  func send(_ line: String) -> Bool {
    guard let session else { return false }
    do {
      try session.send(line)
      transcript.type(hidesInput ? "" : line)
      return true
    } catch {
      switch error {
      case .full: transcript.note("The gate does not answer. Wait before you type more.")
      case .tooLong: transcript.note("That is too long.")
      case .ended, .malformed: transcript.note("The session is over.")
      }
      return false
    }
  }

  /// The phone sleeps, or the player looks at something else: the gate keeps the session.
  func enterBackground() {
    guard let session else { return }
    let application = UIApplication.shared
    let time = application.beginBackgroundTask()
    let parting = session.enterBackground()
    Task {
      await parting.value
      application.endBackgroundTask(time)
    }
  }

  func enterForeground() {
    session?.enterForeground()
  }

  private func show(_ event: GameEvent) {
    switch event {
    case .text(let text): transcript.append(text)
    case .prompt: transcript.endPrompt()
    case .echo(let isOn): hidesInput = isOn
    case .gmcp(package: "Char.Vitals", let data, _): vitals = Vital.all(in: data ?? "")
    case .gap(let messages?): transcript.note("\(messages) messages are missing here.")
    case .gap(nil): transcript.note("Something is missing here.")
    case .inputDropped(let count): transcript.note("\(count) lines were too old, and not sent.")
    case .doubt: transcript.note("Your last line may not have arrived.")
    case .state(.attached(isResumed: false)):
      vitals = []
      state = .attached(isResumed: false)
    case .state(let new): state = new
    case .answering(let isOn): answers = isOn
    case .gmcp, .msdp, .mssp, .approvals, .codeWanted: break
    }
  }

  /// The simulator has no App Attest. The gate's `portcullis dev-certs` makes this file.
  private static var certificate: ClientCertificate? {
    #if targetEnvironment(simulator)
      ClientCertificate(
        contentsOf: Bundle.main.url(forResource: "client", withExtension: "p12"), password: "portcullis")
    #else
      nil
    #endif
  }
}
