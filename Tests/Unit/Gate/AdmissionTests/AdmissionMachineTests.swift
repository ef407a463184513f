import Bytes
import HTTPWire
import KeyStore
import Kit
import Time
import PortcullisProtocol
import Testing

@testable import Admission

/// Every pair of state and event; the order of the waits is that of docs/protocol.md, "Admission": key found, assertion
/// verified, counter durable, game connected, its leg stored, 101.
@Suite struct AdmissionMachineTests {
  enum Event: CaseIterable, Sendable {
    case found, foundNone, foundRevoked, notFound, accepted, rejected, durable, notDurable, lost
    case resumed, notThere, notResumed, connected, connectedToStore, stored, connectFailed, gameLost
    case expired, revoked, superseded, draining, spokeEarly
  }

  typealias State = AdmissionMachine.State
  typealias Action = AdmissionMachine.Action

  private static let keyID = KeyIdentifier(Bytes32(InlineArray<32, UInt8>(repeating: 7)))
  private static let record = KeyRecord(
    publicKey: P256Point(
      x: Bytes32(InlineArray<32, UInt8>(repeating: 4)), y: Bytes32(InlineArray<32, UInt8>(repeating: 5))),
    registeredAt: UnixTime(milliseconds: 0))

  private static func refuse(_ code: RefusalCode, _ step: String) -> (Action, State) {
    (.refuse(code, step: step), .refused)
  }

  /// What is not named here does nothing.
  private static func expected(_ state: State, _ event: Event) -> (Action, State) {
    let isWaiting = [.finding, .judging, .committing, .resuming, .recounting, .connecting, .storing].contains(
      state)
    return switch (state, event) {
    case (.finding, .found): (.judge(record), .judging)
    case (.finding, .foundNone): refuse(.keyUnknown, "key_unknown")
    case (.finding, .foundRevoked): refuse(.keyRevoked, "key_revoked")
    case (.finding, .notFound): refuse(.storeUnavailable, "find_failed")
    case (.finding, .expired), (.recounting, .expired): refuse(.storeUnavailable, "find_timeout")
    case (.judging, .accepted): (.nothing, .committing)
    case (.judging, .rejected): refuse(.assertionRejected, "signature")
    // The machine of these tests is asked to resume.
    case (.committing, .durable): (.resume, .resuming)
    case (.resuming, .resumed): (.open, .open)
    case (.resuming, .notThere): (.recount(keyID), .recounting)
    case (.resuming, .notResumed), (.recounting, .notResumed): (.connect, .connecting)
    case (.resuming, .expired): refuse(.overloaded, "resume_timeout")
    case (.committing, .notDurable): refuse(.storeUnavailable, "commit_failed")
    case (.committing, .lost): refuse(.assertionRejected, "counter")
    case (.committing, .expired): refuse(.storeUnavailable, "commit_timeout")
    case (.connecting, .connected): (.open, .open)
    case (.connecting, .connectedToStore): (.store, .storing)
    case (.storing, .stored), (.storing, .expired): (.open, .open)
    case (.connecting, .connectFailed): refuse(.backendUnavailable, "backend_connect")
    // Between the call and the 101, when the game is told who plays.
    case (.open, .gameLost): refuse(.backendUnavailable, "backend_proxy_header")
    case (.connecting, .expired): refuse(.backendUnavailable, "backend_connect_timeout")
    case (_, .draining) where isWaiting: refuse(.shuttingDown, "draining")
    case (_, .superseded) where isWaiting: refuse(.superseded, "superseded")
    case (_, .spokeEarly) where isWaiting: refuse(.badRequest, "bytes_before_101")
    // Also once connected: the key is looked at again before the 101 goes out.
    case (_, .revoked) where state != .refused: refuse(.keyRevoked, "key_revoked")
    default: (.nothing, state)
    }
  }

  private static func machine(in state: State) -> AdmissionMachine {
    var machine = AdmissionMachine(.assertion(keyID), resumes: true)
    if state == .refused {
      _ = machine.found(.unknown)
      return machine
    }
    for step in [Event.found, .accepted, .durable, .notThere, .notResumed, .connectedToStore, .stored] {
      if machine.state == state { break }
      _ = send(step, to: &machine)
    }
    return machine
  }

  private static func send(_ event: Event, to machine: inout AdmissionMachine) -> Action {
    var revoked = record
    revoked.revokedAt = UnixTime(milliseconds: 1)
    return switch event {
    case .found: machine.found(.known(record))
    case .foundNone: machine.found(.unknown)
    case .foundRevoked: machine.found(.known(revoked))
    case .notFound: machine.found(.failed)
    case .accepted: machine.accepted()
    case .rejected: machine.rejected(.assertionRejected, step: "signature")
    case .durable: machine.committed(nil)
    case .notDurable: machine.committed(Refusal(.failed, of: keyID))
    case .lost: machine.committed(Refusal(.lost(.replayed(stored: 9)), of: keyID))
    case .resumed: machine.resumed()
    case .notThere: machine.notThere()
    case .notResumed: machine.notResumed()
    case .connected: machine.connected()
    case .connectedToStore: machine.connected(stores: true)
    case .stored: machine.stored()
    case .connectFailed: machine.connectFailed()
    case .gameLost: machine.gameLost()
    case .expired: machine.expired()
    case .revoked: machine.shutOut(.revoked(.assertion(keyID)))
    case .superseded: machine.superseded()
    case .draining: machine.draining()
    case .spokeEarly: machine.spokeEarly()
    }
  }

  @Test(arguments: State.allCases, Event.allCases)
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
    var withKey = AdmissionMachine(.assertion(Self.keyID))
    let actions = [
      withKey.begin(), withKey.found(.known(Self.record)), withKey.accepted(), withKey.committed(nil),
      withKey.connected(),
    ]
    #expect(actions == [.find(Self.keyID), .judge(Self.record), .nothing, .connect, .open])
    var resumed = AdmissionMachine(.assertion(Self.keyID), resumes: true)
    let ways = [
      resumed.found(.known(Self.record)), resumed.accepted(), resumed.committed(nil), resumed.resumed(),
    ]
    #expect(ways == [.judge(Self.record), .nothing, .resume, .open])
    var withoutKey = AdmissionMachine(.none, resumes: true)
    let first = withoutKey.begin()
    let second = withoutKey.notResumed()
    #expect([first, second] == [.resume, .connect])
    for credential in [
      Credential.none, .clientCertificate(subject: "CN=x", publicKey: Bytes32(), terms: nil),
    ] {
      var without = AdmissionMachine(credential)
      let actions = [without.begin(), without.connected()]
      #expect(actions == [.connect, .open])
    }
  }

  /// By a session's own nonce: where that session is not, there is no other one.
  @Test(arguments: [false, true]) func whatResumesOnly(isThere: Bool) {
    var withKey = AdmissionMachine(.assertion(Self.keyID), resumes: true, resumesOnly: true)
    _ = (withKey.found(.known(Self.record)), withKey.accepted(), withKey.committed(nil))
    let refused = Action.refuse(.nonceInvalid, step: "nonce_sessionless")
    var withoutKey = AdmissionMachine(.none, resumes: true, resumesOnly: true)
    if isThere {
      let opened = [withKey.resumed(), withoutKey.resumed()]
      #expect(opened == [.open, .open])
      return
    }
    let nowhere = [withKey.notThere(), withKey.notResumed(), withoutKey.notThere()]
    #expect(nowhere == [.recount(Self.keyID), refused, refused])
    var foreign = AdmissionMachine(.assertion(Self.keyID), resumes: true, resumesOnly: true)
    _ = (foreign.found(.known(Self.record)), foreign.accepted(), foreign.committed(nil))
    let others = foreign.notResumed()
    #expect(others == refused)
    let states = [withKey.state, withoutKey.state, foreign.state]
    #expect(states == [.refused, .refused, .refused])
  }

  /// Whatever comes in whatever order, one answer is given at most, and nobody is let in without all of it.
  @Test(arguments: 0..<2000 as Range<UInt64>) func oneAnswerAtMost(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var machine = AdmissionMachine(.assertion(Self.keyID), resumes: seed.isMultiple(of: 2))
    var passed: [Event] = []
    var answers = 0
    for _ in 0..<40 {
      let event = Event.allCases[random.next(below: Event.allCases.count)]
      let before = machine.state
      switch Self.send(event, to: &machine) {
      case .refuse: answers += 1
      case .open:
        let isResumed = machine.state == .open && event == .resumed
        let isStored = event == .stored || passed.last == .connectedToStore
        #expect(
          passed.filter { $0 != .notResumed && $0 != .notThere }
            == [.found, .accepted, .durable] + (isStored ? [.connectedToStore] : []))
        #expect(isResumed || isStored || event == .connected)
      case .find, .judge, .resume, .recount, .connect, .store, .nothing: break
      }
      let after = machine.state
      if after != before, after != .refused { passed.append(event) }
    }
    #expect(answers <= 1)
  }
}
