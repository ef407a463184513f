/// What a call works with: the store within its savepoint, the registry's time, and what is to be told once it is durable.
internal import Bytes
package import Crypto
package import DeviceWire
internal import PortcullisProtocol
package import Time

package struct Transaction {
  /// Seconds between a phone's time and ours.
  private static let clockSkew: Int64 = 300

  package let store: RegistryDatabase
  /// The registry's time: never earlier than it was for any call before.
  package let now: UnixTime
  package let entropy: any Entropy
  package let settings: RegistrySettings
  /// The gate's own name in all that is signed; made once, with the store.
  package let server: ServerID
  package let origin: Origin
  package let verifier: P256Verifier
  /// Issues and judges device tokens.
  package let tokens: TokenMint
  /// What the part of devices keeps in memory.
  let devices: DeviceMemory
  /// How long the request may wait for something to say; nil when it is to be answered at once.
  package let wait: Duration?
  /// The version that the app says it has; nil where it says none.
  let clientVersion: String?
  /// In the order of their announcement.
  package private(set) var effects: [RegistryEffect] = []
  /// Who asks, once a token or a signature has said so.
  package private(set) var known: [AuditEntry.Member] = []
  /// Whose token the request has come with, also a device's that nobody has confirmed.
  private(set) var bearer: DeviceID?
  /// Whether the call has written a row of the audit about what it does.
  private(set) var hasRecorded = false
  /// The earliest time at which something of this call is over.
  private(set) var reminder: UnixTime?

  package init(
    store: RegistryDatabase, now: UnixTime, entropy: any Entropy, settings: RegistrySettings,
    server: ServerID, verifier: P256Verifier, tokens: TokenMint, devices: DeviceMemory, origin: Origin,
    wait: Duration? = nil, clientVersion: String? = nil
  ) {
    self.tokens = tokens
    self.devices = devices
    self.verifier = verifier
    self.store = store
    self.now = now
    self.entropy = entropy
    self.settings = settings
    self.server = server
    self.origin = origin
    self.wait = wait
    self.clientVersion = clientVersion
  }

  /// To be told when the call's group is on the disk; a revocation takes effect before.
  package mutating func announce(_ effect: RegistryEffect) {
    effects.append(effect)
  }

  /// To be called as soon as a token or a signature has proved who asks: what is refused from then on is on record.
  package mutating func know(_ party: AuditEntry.Member) {
    if !known.contains(party) { known.append(party) }
  }

  /// The token was good, and is this device's.
  mutating func note(bearer device: DeviceID) { bearer = device }

  /// Puts a row into the audit, within the call's savepoint, with whoever is known to ask and where from.
  package mutating func record(
    _ event: AuditEntry.Event, _ members: AuditEntry.Member...
  ) throws(CallFailure) {
    try record(event, members)
  }

  package mutating func record(
    _ event: AuditEntry.Event, _ members: [AuditEntry.Member]
  ) throws(CallFailure) {
    // What the row is about goes before who asks: a service that asks about a device names both.
    let names = Set(members.map(\.name))
    let isOfService = names.contains("approval_id") || names.contains("lease_id")
    let askers = known.filter { asker in
      // A request or a lease is one service's, which the row of its asking names.
      if case .service = asker, isOfService { return false }
      return !names.contains(asker.name)
    }
    try append(AuditEntry(event, members + askers), by: origin)
    hasRecorded = true
  }

  /// A row of what time alone has brought about: whoever's request has found it out has no part in it.
  mutating func recordOverdue(
    _ event: AuditEntry.Event, _ members: [AuditEntry.Member]
  ) throws(CallFailure) {
    try append(AuditEntry(event, members), by: .gate)
  }

  private mutating func append(_ entry: AuditEntry, by origin: Origin) throws(CallFailure) {
    let row = AuditWriter.row(after: try store.auditEnd(), entry, by: origin, at: now, entropy)
    try store.appendToAudit(row, about: entry.about.map(\.bytes))
  }

  /// Texts were taken out of so many rows.
  package mutating func recordErasure(of count: Int) throws(CallFailure) {
    // Names nobody: that would be a new text about them.
    known = []
    try record(.erased, .count(count))
  }

  /// Of what a phone has signed with a time of its own: nobody keeps a signature for later, and no clock is quite right.
  func requireTimely(_ time: UnixSeconds, _ step: String) throws(CallFailure) {
    guard abs(UnixSeconds(now) - time) <= Self.clockSkew else {
      throw .refused(RegistryRefusal(.clockSkewed, step, time: now))
    }
  }

  /// The parts are asked to look for what is over at this time, if they are not asked before.
  package mutating func remind(at time: UnixTime) {
    reminder = reminder.map { min($0, time) } ?? time
  }
}

extension Bytes32 {
  static func random(_ entropy: some Entropy) -> Bytes32 {
    guard let bytes = Bytes32(entropy.bytes(32)) else { fatalError("there are 32 bytes") }
    return bytes
  }
}
