/// What is known of an app's key at one gate, as it is saved between starts of the app.

/// Saved before each step that it protects: killed at any point and started again, no key is made that was not needed, and
/// no key is attested over another hash.
package struct AppKeyRecord: Equatable, Sendable {
  /// How far the key has come.
  package enum Stage: Equatable, Sendable {
    /// By App Attest; nobody has seen it yet.
    case made
    /// The gate has given a challenge for it, 64 hexadecimal digits, good until then (Unix time in seconds).
    case challenged(nonce: String, until: Int)
    /// Apple has certified it over that challenge. The same bytes are sent until the gate has answered.
    case attested(nonce: String, until: Int, attestation: [UInt8])
    /// The gate knows it.
    case registered
  }

  /// Of a key and how far it has come.
  package struct Key: Equatable, Sendable {
    package var id: String
    package var stage: Stage

    package init(id: String, stage: Stage) {
      self.id = id
      self.stage = stage
    }
  }

  static let version = 1

  /// Nil: there is none, or none that is good for anything.
  package var key: Key?
  /// How many long pauses there were since something has succeeded.
  package var failures = 0
  /// How often App Attest has failed in a row without saying why, at the step where the key stands.
  package var unknowns = 0
  /// App Attest is not asked before (Unix time in seconds); 0: at once.
  package var notBefore = 0
  /// When keys were made (Unix time in seconds), within a day, oldest first.
  package var madeAt: [Int] = []

  package init(key: Key? = nil) {
    self.key = key
  }

  // MARK: As text

  /// The text that is saved.
  package var bytes: [UInt8] {
    var members: [(String, [UInt8])] = [("v", number(Self.version))]
    if let key {
      members.append(("keyId", JSONText.quoted(key.id)))
      switch key.stage {
      case .made: members.append(("stage", JSONText.quoted("made")))
      case .challenged(let nonce, let until):
        members += [("stage", JSONText.quoted("challenged"))] + challenge(nonce, until)
      case .attested(let nonce, let until, let attestation):
        members += [("stage", JSONText.quoted("attested"))] + challenge(nonce, until)
        members.append(("attestation", JSONText.quoted(TextEncoding.base64(attestation))))
      case .registered: members.append(("stage", JSONText.quoted("registered")))
      }
    }
    members.append(("failures", number(failures)))
    members.append(("unknowns", number(unknowns)))
    members.append(("notBefore", number(notBefore)))
    members.append(("madeAt", JSONText.quoted(madeAt.map(String.init).joined(separator: " "))))
    return AppText.object(members)
  }

  private func challenge(_ nonce: String, _ until: Int) -> [(String, [UInt8])] {
    [("nonce", JSONText.quoted(nonce)), ("until", number(until))]
  }

  private func number(_ value: Int) -> [UInt8] { Array(String(value).utf8) }

  /// - Throws: `RecordError`: broken, or of a later version.
  package init(saved bytes: [UInt8]) throws(RecordError) {
    guard let object = JSONText(object: bytes), let version = object.integer("v") else { throw .broken }
    guard version <= Self.version else { throw .later }
    guard let failures = Self.count("failures", object), let unknowns = Self.count("unknowns", object),
      let notBefore = Self.count("notBefore", object), let times = object.string("madeAt")
    else { throw .broken }
    self.failures = failures
    self.unknowns = unknowns
    self.notBefore = notBefore
    for text in times.split(separator: " ") {
      guard let time = Int(text), time >= 0, madeAt.count < 16 else { throw .broken }
      madeAt.append(time)
    }
    guard let id = object.string("keyId") else { return }
    guard TextEncoding.bytes(ofBase64: id)?.count == 32, let stage = Self.stage(object) else { throw .broken }
    key = Key(id: id, stage: stage)
  }

  private static func stage(_ object: JSONText) -> Stage? {
    let name = object.string("stage")
    if name == "made" { return .made }
    if name == "registered" { return .registered }
    guard let nonce = object.string("nonce"), TextEncoding.bytes(ofHex: nonce)?.count == 32,
      let until = count("until", object)
    else { return nil }
    if name == "challenged" { return .challenged(nonce: nonce, until: until) }
    guard name == "attested", let text = object.string("attestation"),
      let attestation = TextEncoding.bytes(ofBase64: text), !attestation.isEmpty
    else { return nil }
    return .attested(nonce: nonce, until: until, attestation: attestation)
  }

  /// A number that is neither below 0 nor beyond 2⁵³.
  private static func count(_ name: String, _ object: JSONText) -> Int? {
    object.integer(name).flatMap { (0...(1 << 53)).contains($0) ? $0 : nil }
  }
}
