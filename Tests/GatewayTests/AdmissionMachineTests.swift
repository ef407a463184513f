import HTTPWire
import Testing

@testable import Gateway

/// Every pair of state and event; the order of the waits is SPEC §3's: counter durable, game connected, 101.
@Suite struct AdmissionMachineTests {
  enum Event: CaseIterable, Sendable {
    case durable, notDurable, connected, connectFailed, gameLost, expired, revoked, superseded, draining
    case spokeEarly
  }

  typealias State = AdmissionMachine.State
  typealias Action = AdmissionMachine.Action

  private static func refuse(_ code: RefusalCode, _ step: String) -> (Action, State) {
    (.refuse(code, step: step), .refused)
  }

  /// What is not named here does nothing.
  private static func expected(_ state: State, _ event: Event) -> (Action, State) {
    switch (state, event) {
    case (.committing, .durable): (.connect, .connecting)
    case (.committing, .notDurable): refuse(.storeUnavailable, "commit_failed")
    case (.committing, .expired): refuse(.storeUnavailable, "commit_timeout")
    case (.connecting, .connected): (.open, .open)
    case (.connecting, .connectFailed): refuse(.backendUnavailable, "backend_connect")
    // Between the call and the 101, when the game is told who plays.
    case (.open, .gameLost): refuse(.backendUnavailable, "backend_proxy_header")
    case (.connecting, .expired): refuse(.backendUnavailable, "backend_connect_timeout")
    case (.committing, .superseded), (.connecting, .superseded): refuse(.superseded, "superseded")
    case (.committing, .draining), (.connecting, .draining): refuse(.shuttingDown, "draining")
    case (.committing, .spokeEarly), (.connecting, .spokeEarly): refuse(.badRequest, "bytes_before_101")
    // Also once connected: the key is looked at again before the 101 goes out.
    case (.committing, .revoked), (.connecting, .revoked), (.open, .revoked):
      refuse(.keyRevoked, "key_revoked")
    default: (.nothing, state)
    }
  }

  private static func machine(in state: State) -> AdmissionMachine {
    var machine = AdmissionMachine(commits: state == .committing)
    switch state {
    case .committing, .connecting: break
    case .open: _ = machine.connected()
    case .refused: _ = machine.connectFailed()
    }
    return machine
  }

  private static func send(_ event: Event, to machine: inout AdmissionMachine) -> Action {
    switch event {
    case .durable: machine.committed(durably: true)
    case .notDurable: machine.committed(durably: false)
    case .connected: machine.connected()
    case .connectFailed: machine.connectFailed()
    case .gameLost: machine.gameLost()
    case .expired: machine.expired()
    case .revoked: machine.revoked()
    case .superseded: machine.superseded()
    case .draining: machine.draining()
    case .spokeEarly: machine.spokeEarly()
    }
  }

  @Test(arguments: [State.committing, .connecting, .open, .refused], Event.allCases)
  func pair(state: State, event: Event) {
    var machine = Self.machine(in: state)
    let before = machine.state
    #expect(before == state)
    let action = Self.send(event, to: &machine)
    let after = machine.state
    let expected = Self.expected(state, event)
    #expect(action == expected.0)
    #expect(after == expected.1)
  }

  @Test func theWaysToOpen() {
    var withKey = AdmissionMachine(commits: true)
    let actions = [withKey.committed(durably: true), withKey.connected()]
    #expect(actions == [.connect, .open])
    var without = AdmissionMachine(commits: false)
    let action = without.connected()
    #expect(action == .open)
  }
}
