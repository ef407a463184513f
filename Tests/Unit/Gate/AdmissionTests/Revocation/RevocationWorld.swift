import Bytes
import Kit

@testable import Admission

/// A gate in which one device with one key plays, as plain as can be: loops are queues and sets, the store two flags. The
/// machine and the register are the real ones.
struct RevocationWorld {
  private enum Owner: UInt64, CaseIterable {
    case key, device
    /// A device that is named in the course of it, as the registry finds that it goes as well.
    case other

    /// As the register has it.
    var name: KeyIdentifier { KeyIdentifier(Bytes32(words: rawValue, 2, 3, 4)) }
  }

  private struct Session {
    let owner: Owner
    /// What is left to be done until its `101`; 0 where it is out.
    var steps = 0
    /// Whom it asks for the session that it goes on with.
    var resumes: SessionReference?
  }

  private enum Message {
    case end(SessionReference)
    case question(Revocation.Round)
    case takeOver(SessionReference, by: SessionReference)
    case handedOver(to: SessionReference, Session)
  }

  private struct Loop {
    var sessions: [SessionReference: Session] = [:]
    var mail: [Message] = []
    var hangs = false
  }

  /// What has been said and not heard yet.
  private enum Report {
    case marked(Revocation.Mark, [SessionReference])
    case wrote(Revocation.Mark, Revocation.Written)
    case ending(Owner, [SessionReference])
    case ended(SessionReference)
    case heard(Revocation.Round, Int)
    case complete
  }

  private static let loopCount = 3

  private var numbers: SplitMix
  private let losesNothing: Bool
  private let register = SessionRegister()
  private var loops = [Loop](repeating: Loop(), count: loopCount)
  private var lastToken: UInt64 = 0
  private var revocation = Revocation(loops: loopCount)
  private var reports: [Report] = []
  private var isOrdered = false
  /// The store: in memory, on the disk, and what waits for the disk.
  private var isMarked = false
  private var isDurable = false
  private var diskFails = false
  private var toMark: [Revocation.Mark] = []
  private var toWrite: [Revocation.Mark] = []
  /// Devices that the door knows, and that were named before it was settled.
  private var known: Set<Owner> = [.device, .other]
  private var named: Set<Owner> = [.key]
  private var isDraining = false
  /// Whether the process has gone; what the next one takes up.
  private var nextProcess: [Session]?
  /// How many were on their way between two loops while loops were asked.
  private(set) var arrivalsUnderWay = 0

  init(seed: UInt64, losesNothing: Bool = false) {
    numbers = SplitMix(seed: seed)
    self.losesNothing = losesNothing
    diskFails = !losesNothing && numbers.next(below: 4) == 0
  }

  // MARK: What must be true

  /// What was answered and is not so; nil while all is well.
  func judge() -> String? {
    guard revocation.state == .settled, !revocation.outcome.isSilent, revocation.outcome.sessionsLeft == 0
    else { return nil }
    let left = living.filter { named.contains($0.1.owner) }
    if !left.isEmpty { return "settled, and \(left) live" }
    let moving = inTheMail.filter { named.contains($0.owner) }
    if !moving.isEmpty { return "settled, and \(moving) are on their way" }
    if !named.allSatisfy(isRefused) || !named.contains(.device) { return "settled, and not refused" }
    guard revocation.outcome.unwritten.isEmpty else { return nil }
    if !isDurable { return "settled, and not on the disk" }
    // The device is the registry's to write; a key that is written is refused in the next process.
    if let nextProcess, nextProcess.contains(where: { $0.owner == .key }) {
      return "settled, and taken up again"
    }
    return nil
  }

  private var living: [(SessionReference, Session)] {
    loops.flatMap { loop in sorted(loop.sessions).filter { $0.1.steps == 0 } }
  }

  private var inTheMail: [Session] {
    loops.flatMap { loop in
      loop.mail.compactMap { if case .handedOver(_, let session) = $0 { session } else { nil } }
    }
  }

  // MARK: What happens

  mutating func step() {
    if nextProcess != nil { return hear() }
    let loop = numbers.next(below: Self.loopCount)
    switch numbers.next(below: 100) {
    case 0..<12: begin(at: loop)
    case 12..<36: goOn(at: loop)
    case 36..<58: deliver(at: loop)
    case 58..<59: leave(at: loop)
    case 59..<61 where !isOrdered: order()
    case 61..<64 where isOrdered: name(.other)
    case 64..<68: mark()
    case 68..<72: write()
    case 72..<73 where !losesNothing && numbers.next(below: 4) == 0:
      loops[loop].hangs = numbers.next(below: 2) == 0
    case 73..<74: isDraining = numbers.next(below: 6) == 0
    case 74..<75 where !losesNothing && isOrdered && numbers.next(below: 10) == 0: restart()
    case 75..<76 where !losesNothing && isOrdered && numbers.next(below: 6) == 0: expire()
    default: hear()
    }
  }

  /// All that is under way comes to its end, and what does not come is over: the outcome.
  mutating func finish() -> Revocation.Outcome? {
    if !isOrdered, nextProcess == nil { order() }
    for _ in 0..<2000 where revocation.state != .settled {
      mark()
      write()
      for loop in loops.indices where nextProcess == nil {
        goOn(at: loop)
        deliver(at: loop)
      }
      hear()
    }
    for _ in 0..<4 where revocation.state != .settled { expire() }
    return revocation.state == .settled ? revocation.outcome : nil
  }

  private mutating func expire() {
    carryOut(revocation.expired())
  }

  /// The device is unknown from now on, and its sessions are looked up; its key is named, perhaps twice.
  private mutating func order() {
    isOrdered = true
    name(.device)
    for _ in 0...numbers.next(below: 2) { carryOut(revocation.end(Owner.key.name)) }
    report(.complete)
  }

  /// It is known no more, and then its sessions are looked up.
  private mutating func name(_ owner: Owner) {
    guard known.remove(owner) != nil else { return }
    report(.ending(owner, endSessions(of: owner)))
  }

  private mutating func endSessions(of owner: Owner) -> [SessionReference] {
    let sessions = register.sessions(of: owner.name)
    for session in sessions { loops[Int(session.loop)].mail.append(.end(session)) }
    return sessions
  }

  private mutating func mark() {
    guard let mark = toMark.popLast() else { return }
    isMarked = true
    toWrite.append(mark)
    report(.marked(mark, endSessions(of: .key)))
  }

  private mutating func write() {
    guard let mark = toWrite.popLast() else { return }
    if !diskFails { isDurable = true }
    report(.wrote(mark, diskFails ? .failed : .written))
  }

  /// Late, twice, or never.
  private mutating func report(_ report: Report) {
    if losesNothing {
      reports.append(report)
      return
    }
    switch (report, numbers.next(below: 40)) {
    // Whoever orders it tells it himself.
    case (.complete, _), (.ending, _): reports.append(report)
    case (_, 0): break
    case (_, 1..<8): reports += [report, report]
    default: reports.append(report)
    }
  }

  /// Whatever was said, in any order; but whoever orders it is done last.
  private mutating func hear() {
    guard !reports.isEmpty else { return }
    let index = numbers.next(below: reports.count)
    if case .complete = reports[index], !named.contains(.device) { return }
    switch reports.remove(at: index) {
    case .marked(let mark, let sessions): carryOut(revocation.marked(mark, ending: sessions))
    case .wrote(let mark, let written): carryOut(revocation.wrote(mark, written))
    case .ending(let owner, let sessions):
      if revocation.state != .settled { named.insert(owner) }
      carryOut(revocation.ending(sessions))
    case .ended(let session): carryOut(revocation.ended(session))
    case .heard(let round, let loop): carryOut(revocation.heard(round, by: loop))
    case .complete: carryOut(revocation.complete())
    }
  }

  private mutating func carryOut(_ action: Revocation.Action) {
    switch action {
    case .nothing, .settle: break
    case .mark(let mark): toMark.append(mark)
    case .tell(let round):
      arrivalsUnderWay += inTheMail.count
      for loop in loops.indices {
        if nextProcess == nil {
          loops[loop].mail.append(.question(round))
        } else {
          report(.heard(round, loop))
        }
      }
    }
  }

  // MARK: Loops

  private mutating func begin(at loop: Int) {
    let owner = Owner.allCases[numbers.next(below: 3)]
    guard !isRefused(owner), loops[loop].sessions.count < 6 else { return }
    let session = reference(at: loop)
    let others = living.filter { $0.1.owner == owner }.map(\.0)
    let resumes =
      others.isEmpty || numbers.next(below: 4) == 0 ? nil : others[numbers.next(below: others.count)]
    if isDraining, resumes == nil { return }
    register.enter(session, of: owner.name)
    loops[loop].sessions[session] = Session(owner: owner, steps: 2, resumes: resumes)
  }

  /// An upgrade's next step: the counter, the session that it goes on with, the `101`.
  private mutating func goOn(at loop: Int) {
    guard !loops[loop].hangs,
      let (session, state) = pick(loops[loop].sessions.filter { $0.value.steps > 0 && $0.value.steps < 3 })
    else { return }
    if isRefused(state.owner) { return end(session, at: loop) }
    switch (state.steps, state.resumes) {
    case (2, let resumed?):
      // It waits for the answer.
      loops[loop].sessions[session]?.steps = 3
      loops[Int(resumed.loop)].mail.append(.takeOver(resumed, by: session))
    case (2, nil): loops[loop].sessions[session]?.steps = 1
    default: open(session, at: loop)
    }
  }

  private mutating func open(_ session: SessionReference, at loop: Int) {
    guard let state = loops[loop].sessions[session] else { return }
    if isRefused(state.owner) { return end(session, at: loop) }
    loops[loop].sessions[session] = Session(owner: state.owner)
    _ = register.admit(session, of: state.owner.name, limit: .max)
  }

  private mutating func leave(at loop: Int) {
    guard !loops[loop].hangs, let (session, _) = pick(loops[loop].sessions) else { return }
    end(session, at: loop)
  }

  private mutating func end(_ session: SessionReference, at loop: Int) {
    guard let state = loops[loop].sessions.removeValue(forKey: session) else { return }
    register.leave(session, of: state.owner.name)
  }

  private mutating func deliver(at loop: Int) {
    guard !loops[loop].hangs, !loops[loop].mail.isEmpty else { return }
    switch loops[loop].mail.removeFirst() {
    case .end(let session):
      end(session, at: loop)
      report(.ended(session))
    case .question(let round): report(.heard(round, loop))
    case .takeOver(let session, let by):
      guard let state = loops[loop].sessions[session], state.steps == 0 else {
        loops[Int(by.loop)].sessions[by]?.steps = 2
        loops[Int(by.loop)].sessions[by]?.resumes = nil
        return
      }
      end(session, at: loop)
      loops[Int(by.loop)].mail.append(.handedOver(to: by, state))
    case .handedOver(let by, let state):
      // Nobody may wait for it any more: then it lives here without a connection.
      let place = loops[loop].sessions[by] == nil ? reference(at: loop) : by
      register.detach(place, of: state.owner.name)
      loops[loop].sessions[place] = state
      if isRefused(state.owner) { end(place, at: loop) }
    }
  }

  /// The loops end: what they were told counts as done, and sessions are kept. What waits for the disk is tried once more.
  private mutating func restart() {
    while !toMark.isEmpty { mark() }
    while !toWrite.isEmpty { write() }
    var kept = living.map(\.1) + inTheMail
    for loop in loops.indices {
      for message in loops[loop].mail {
        switch message {
        case .end(let session): report(.ended(session))
        case .question(let round): report(.heard(round, loop))
        case .takeOver, .handedOver: break
        }
      }
      loops[loop] = Loop()
    }
    kept.removeAll { $0.owner == .key && isDurable }
    nextProcess = kept
  }

  // MARK: Helpers

  private func isRefused(_ owner: Owner) -> Bool { owner == .key ? isMarked : !known.contains(owner) }

  private mutating func reference(at loop: Int) -> SessionReference {
    lastToken += 1
    return SessionReference(loop: UInt16(loop), token: lastToken)
  }

  private mutating func pick(_ sessions: [SessionReference: Session]) -> (SessionReference, Session)? {
    let sorted = sorted(sessions)
    return sorted.isEmpty ? nil : sorted[numbers.next(below: sorted.count)]
  }

  /// A dictionary's own order is another one on each run.
  private func sorted(_ sessions: [SessionReference: Session]) -> [(SessionReference, Session)] {
    sessions.sorted { $0.key.token < $1.key.token }.map { ($0.key, $0.value) }
  }
}
