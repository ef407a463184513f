/// The machine, the model of a gate, and a connection between them that breaks where a test says.
import PortcullisTesting

@testable import PortcullisClient

struct ModelWorld {
  var machine: SessionMachine
  var gate = GateModel()
  private(set) var now = 0.0
  /// Nil: no connection.
  private(set) var toGate: [Frame]?
  private(set) var toApp: [Frame]?
  private(set) var shown: [String] = []
  private(set) var events: [GameEvent] = []
  private(set) var typed: [String] = []
  private var said = 0
  /// Frames that have arrived so far, either way.
  private(set) var deliveries = 0
  private(set) var connections = 0
  /// Else what has come is handled when a test says so.
  var handlesAtOnce = true
  private var marks: [ArrivalMark] = []
  private(set) var remembered: RememberedSession?
  /// How many messages this start of the app began behind.
  private(set) var startedBehind = 0

  init(seed: UInt64 = 1, inputPatience: Double? = nil) {
    machine = SessionMachine(
      policy: GameOptions(
        triesFirstAgain: true, beginsAnew: true, givesUpWithSession: false,
        inputPatience: inputPatience),
      client: ClientDescription(name: "Model"), seed: seed)
    machine.begin(now: now)
    perform()
  }

  // MARK: What may happen

  mutating func type() {
    let line = "input.\(typed.count)"
    do throws(GameInputError) {
      if typed.count.isMultiple(of: 4) {
        try machine.send(gmcp: line, data: "[1]", now: now)
        typed.append(#"{"type":"gmcp","package":"\#(line)","data":[1]}"#)
      } else {
        try machine.send(Array(line.utf8), now: now)
        typed.append(line)
      }
    } catch {
      // It waits with whoever typed it.
    }
    perform()
  }

  mutating func say() {
    said += 1
    let frame: Frame =
      switch said % 3 {
      case 0: .text(#"{"type":"gmcp","package":"Room.Info","data":\#(said)}"#)
      case 1: .binary("output \(said)")
      default: .text(#"{"type":"later","number":\#(said)}"#)
      }
    send(gate.say(frame))
  }

  mutating func acknowledge() {
    if gate.attached != nil { send([gate.acknowledgement()]) }
  }

  mutating func pass(_ seconds: Double) {
    now += seconds
    machine.tick(now: now)
    perform()
  }

  mutating func changeNetwork() {
    machine.networkChanged(now: now)
    perform()
  }

  mutating func deliverToGate() {
    guard let frame = toGate?.first else { return }
    toGate?.removeFirst()
    deliveries += 1
    if case .upgrade(let resume, _) = frame { return send(gate.upgrade(resume: resume)) }
    if case .close(let code) = frame { return send([.close(code)]) }
    send(gate.take(frame))
  }

  mutating func deliverToApp() {
    guard let frame = toApp?.first else { return }
    toApp?.removeFirst()
    deliveries += 1
    switch frame {
    case .accepted: machine.opened(subprotocol: SessionRequest.subprotocol, now: now)
    case .text(let text):
      machine.receive(text: Array(text.utf8), now: now)
      arrive()
    case .binary(let text):
      machine.receive(binary: Array(text.utf8), now: now)
      arrive()
    case .pong: machine.heard(now: now)
    case .close(let code):
      toGate = nil
      toApp = nil
      machine.closed(code: code, now: now)
    case .upgrade, .ping: break
    }
    perform()
  }

  private mutating func arrive() {
    marks.append(machine.mark)
    if handlesAtOnce { handle() }
  }

  /// The app has handled one more message.
  mutating func handle() {
    guard !marks.isEmpty else { return }
    machine.handled(marks.removeFirst(), now: now)
    perform()
  }

  /// The app is killed, and started again. What was typed and not taken goes with it.
  mutating func relaunch() {
    toGate = nil
    toApp = nil
    marks = []
    shown = []
    startedBehind = remembered?.received ?? 0
    typed = gate.attached?.taken.filter { !$0.isEmpty } ?? []
    machine = SessionMachine(policy: machine.policy, client: machine.client, seed: UInt64(connections))
    if let remembered { machine.adopt(remembered) }
    machine.begin(now: now)
    perform()
  }

  mutating func cut() {
    guard toGate != nil else { return }
    toGate = nil
    toApp = nil
    if machine.phase == .connecting {
      machine.failed(Played.lost, now: now)
    } else {
      machine.closed(code: 1006, now: now)
    }
    perform()
  }

  /// Lets everything arrive and time pass until nothing is left to do.
  mutating func settle() {
    for _ in 0..<10_000 {
      if !(toGate ?? []).isEmpty {
        deliverToGate()
      } else if !(toApp ?? []).isEmpty {
        deliverToApp()
      } else if !marks.isEmpty {
        handle()
      } else if machine.phase == .attached, machine.input.isEmpty {
        return
      } else if machine.phase == .attached {
        acknowledge()
      } else if let next = machine.nextTime {
        pass(max(0, next - now))
      } else {
        return
      }
    }
    fatalError("it goes on for ever: \(machine.phase)")
  }

  // MARK: What is true in the end

  /// What the game heard in the last session, without what is empty.
  var heard: [String] { (gate.attached?.taken ?? []).filter { !$0.isEmpty } }

  /// What the app should have shown of the last session.
  var expected: [String] {
    (gate.attached?.said ?? []).dropFirst(startedBehind).compactMap { frame in
      switch frame {
      case .binary(let text): text
      case .text(let text) where text.contains("gmcp"): String(text.filter(\.isNumber))
      default: nil
      }
    }
  }

  // MARK: Parts of them

  private mutating func send(_ frames: [Frame]) {
    toApp?.append(contentsOf: frames)
  }

  private mutating func perform() {
    for action in machine.takeActions() {
      switch action {
      case .connect(let request):
        toGate = [.upgrade(resume: request["Portcullis-Resume"], client: request["Portcullis-Client"] != nil)]
        toApp = []
        connections += 1
      case .recall, .renewKey, .tellWaiting: break
      case .remember(let session): remembered = session
      case .sendText(let bytes): toGate?.append(.text(String(decoding: bytes, as: UTF8.self)))
      case .sendBinary(let bytes): toGate?.append(.binary(String(decoding: bytes, as: UTF8.self)))
      case .ping: toGate?.append(.ping)
      case .close(let code): toGate?.append(.close(code))
      case .abandon:
        toGate = nil
        toApp = nil
      case .tell(let event): note(event)
      }
    }
  }

  private mutating func note(_ event: GameEvent) {
    events.append(event)
    switch event {
    case .text(let text): shown.append(text)
    case .gmcp(_, let data?, isAgain: false): shown.append(data)
    case .state(.attached(isResumed: false)): shown = []
    default: break
    }
  }
}

extension SessionRequest {
  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}
