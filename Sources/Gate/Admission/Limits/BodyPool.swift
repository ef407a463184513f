/// Memory that all request bodies together may take, charged as their bytes arrive, in steps of 4 KiB; an announcement
/// reserves nothing (docs/settings.md, "More about some limits").
///
/// Where it is full, a body that is still on its way is dropped for the one that grows: of those without progress for a
/// second, if there are any, one of the owner that holds most, and of these the one without progress for longest. A body
/// that is whole stays until its request is answered. Bodies of known bearers, and votes, have a quarter that others do not
/// get.
package import Addresses
package import DeviceWire
package import Registry
internal import Scheduling
internal import Synchronization
package import Time

/// Who is charged for a body.
package enum BodyOwner: Hashable, Sendable {
  case address(IPAddress)
  case device(DeviceID)
  case service(ServiceID)
}

/// Which part of the pool a body is charged to.
package enum BodyPart: Sendable {
  case anybody
  /// Of a bearer that the gate knows, or a vote.
  case known
}

package final class BodyPool: Sendable {
  static let stepBytes = 4096
  /// A body that has not grown by a step for so long is the first to be dropped.
  package static let patience: Duration = .seconds(1)

  fileprivate typealias Drop = @Sendable () -> Void

  private struct Body {
    let number: UInt64
    var steps: Int
    var progress: MonotonicTime
    var isComing = true
    let drop: Drop
  }

  private struct Holder {
    var steps = 0
    var bodies: [Body] = []

    /// The place of the one to be dropped first.
    func stalest(but number: UInt64) -> Int? {
      var found: Int?
      for (index, body) in bodies.enumerated() where body.isComing && body.number != number {
        if found.map({ body.progress < bodies[$0].progress }) ?? true { found = index }
      }
      return found
    }
  }

  private struct Part {
    var steps = 0
    var holders: [BodyOwner: Holder] = [:]
  }

  private struct State {
    var anybody = Part()
    var known = Part()
    subscript(part: BodyPart) -> Part {
      get { part == .anybody ? anybody : known }
      _modify { if part == .anybody { yield &anybody } else { yield &known } }
    }
  }

  private struct Place {
    let part: BodyPart
    let owner: BodyOwner
    let index: Int
  }

  private let state = Mutex(State())
  private let numbers = Sequence()
  /// In steps: of all, of one owner, and what is kept for those who are known.
  private let limit: Int
  private let share: Int
  private let kept: Int

  /// - Parameters:
  ///   - limit: in bytes, of all bodies.
  ///   - share: of one owner's; one body alone may be larger.
  package init(limit: Int, share: Int) {
    self.limit = limit / Self.stepBytes
    self.share = share / Self.stepBytes
    kept = self.limit / 4
  }

  /// For a body of which nothing has come.
  /// - Parameter drop: called by any thread when the body has to make room.
  package func open(_ part: BodyPart, _ owner: BodyOwner, drop: @escaping @Sendable () -> Void) -> BodyCharge
  {
    BodyCharge(self, numbers.next(), part, owner, drop)
  }

  /// What is charged, in bytes.
  package var heldBytes: Int { state.withLock { $0.anybody.steps + $0.known.steps } * Self.stepBytes }

  // MARK: Charging

  /// False where the body was dropped before, or has to be now.
  fileprivate func hold(_ steps: Int, of charge: BodyCharge, isFirst: Bool, now: MonotonicTime) -> Bool {
    var dropped: [Drop] = []
    let isHeld = state.withLock { state in
      var body = Body(number: charge.number, steps: 0, progress: now, drop: charge.drop)
      if !isFirst {
        guard let taken = Self.remove(charge, from: &state) else { return false }
        body = taken
      }
      while !hasRoom(for: steps, charge, state) {
        guard let place = victim(for: charge, steps, state, now) else { return false }
        let holder = state[place.part].holders[place.owner]
        guard let found = holder?.bodies[place.index] else { return false }
        Self.remove(found.number, of: place.owner, place.part, from: &state)
        dropped.append(found.drop)
      }
      (body.steps, body.progress) = (steps, now)
      Self.insert(body, charge, into: &state)
      return true
    }
    for drop in dropped { drop() }
    return isHeld
  }

  /// No room is made of it from now on; false where it was.
  fileprivate func complete(_ charge: BodyCharge) -> Bool {
    state.withLock { state in
      guard var body = Self.remove(charge, from: &state) else { return false }
      body.isComing = false
      Self.insert(body, charge, into: &state)
      return true
    }
  }

  fileprivate func release(_ charge: BodyCharge) {
    state.withLock { state in _ = Self.remove(charge, from: &state) }
  }

  // MARK: Room

  /// The body itself is not among those that hold.
  private func hasRoom(for steps: Int, _ charge: BodyCharge, _ state: State) -> Bool {
    if isBeyondShare(steps, charge, state) { return false }
    let (anybody, known) = (state.anybody.steps, state.known.steps)
    switch charge.part {
    case .anybody: return anybody == 0 || anybody + steps <= limit - max(kept, known)
    case .known: return known + steps <= max(kept, limit - anybody)
    }
  }

  private func isBeyondShare(_ steps: Int, _ charge: BodyCharge, _ state: State) -> Bool {
    let held = state[charge.part].holders[charge.owner]?.steps ?? 0
    return held > 0 && held + steps > share
  }

  /// The body that has to make room; nil where none can.
  private func victim(for charge: BodyCharge, _ steps: Int, _ state: State, _ now: MonotonicTime) -> Place? {
    if isBeyondShare(steps, charge, state) {
      guard let index = state[charge.part].holders[charge.owner]?.stalest(but: charge.number) else {
        return nil
      }
      return Place(part: charge.part, owner: charge.owner, index: index)
    }
    var found: (place: Place, isStalled: Bool, steps: Int, progress: MonotonicTime)?
    for part in charge.part == .anybody ? [BodyPart.anybody] : [.anybody, .known] {
      for (owner, holder) in state[part].holders {
        guard let index = holder.stalest(but: charge.number) else { continue }
        let progress = holder.bodies[index].progress
        let isStalled = now - progress >= Self.patience
        if let found {
          if found.isStalled != isStalled {
            if found.isStalled { continue }
          } else if (found.steps, progress) > (holder.steps, found.progress) {
            continue
          }
        }
        found = (Place(part: part, owner: owner, index: index), isStalled, holder.steps, progress)
      }
    }
    return found?.place
  }

  // MARK: Bookkeeping

  private static func insert(_ body: Body, _ charge: BodyCharge, into state: inout State) {
    state[charge.part].steps += body.steps
    state[charge.part].holders[charge.owner, default: Holder()].steps += body.steps
    state[charge.part].holders[charge.owner]?.bodies.append(body)
  }

  private static func remove(_ charge: BodyCharge, from state: inout State) -> Body? {
    remove(charge.number, of: charge.owner, charge.part, from: &state)
  }

  @discardableResult
  private static func remove(
    _ number: UInt64, of owner: BodyOwner, _ part: BodyPart, from state: inout State
  ) -> Body? {
    guard let index = state[part].holders[owner]?.bodies.firstIndex(where: { $0.number == number }),
      let body = state[part].holders[owner]?.bodies.remove(at: index)
    else { return nil }
    state[part].steps -= body.steps
    state[part].holders[owner]?.steps -= body.steps
    if state[part].holders[owner]?.bodies.isEmpty == true { state[part].holders[owner] = nil }
    return body
  }
}

/// What one body is charged, until its request is answered; its loop's alone.
package final class BodyCharge {
  fileprivate let number: UInt64
  fileprivate let part: BodyPart
  fileprivate let owner: BodyOwner
  fileprivate let drop: BodyPool.Drop
  private let pool: BodyPool
  /// Paid for; 0 before its first byte, when the pool knows nothing of it.
  private var steps = 0

  fileprivate init(
    _ pool: BodyPool, _ number: UInt64, _ part: BodyPart, _ owner: BodyOwner, _ drop: @escaping BodyPool.Drop
  ) {
    self.pool = pool
    self.number = number
    self.part = part
    self.owner = owner
    self.drop = drop
  }

  /// So many bytes are there; false where the body has to go.
  package func hold(_ bytes: Int, now: MonotonicTime) -> Bool {
    let needed = (bytes + BodyPool.stepBytes - 1) / BodyPool.stepBytes
    guard needed > steps else { return true }
    let isFirst = steps == 0
    steps = needed
    return pool.hold(needed, of: self, isFirst: isFirst, now: now)
  }

  /// The body is whole; false where it had to go just before.
  package func complete() -> Bool { steps == 0 || pool.complete(self) }

  deinit {
    if steps > 0 { pool.release(self) }
  }
}
