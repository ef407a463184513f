/// `devices rotate-token-keys`: another key signs tokens from now on; with `now` all that was signed before ends (docs/security.md,
/// "When something is lost").
internal import DeviceTokens
internal import DeviceWire
internal import JSON

struct RotateTokenKeys: RegistryCall {
  /// What the keys before have signed ends at once, and so do codes that wait to be typed.
  private let isEnd: Bool

  /// Where the store cannot be written, no token is taken; so it is tried again before any is.
  var urgency: Urgency { isEnd ? .revocation : .ordinary }
  var revokes: String { isEnd ? "token keys" : "" }

  init(_ arguments: OrderArguments) throws(FormError) {
    isEnd = try arguments.flag("now")
  }

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let (tokens, now) = (transaction.tokens, transaction.now)
    try tokens.replaceKeys(in: transaction.store, at: now, endingTokens: isEnd)
    if isEnd {
      // Made anew at the next code. The phone may give another one for the same login.
      try transaction.store.setValue(StoreValue.secret, nil)
      try transaction.store.dropIssuedCodes()
    }
    try transaction.publishTokenKeys(isEnd ? [.word("ended", "tokens")] : [])
    // A phone that waits for something to decide shows its token once more.
    if isEnd { transaction.announce(.wakeAll) }
    var answer = DeviceAnswer()
    answer.put("kid", tokens.ring.current.key.identifier)
    return .reply(answer.reply())
  }
}

extension Transaction {
  /// The set of keys has changed.
  mutating func publishTokenKeys(_ more: [AuditEntry.Member] = []) throws(CallFailure) {
    announce(.keySet(tokens.ring.jwks))
    try record(
      .tokenKeysChanged, tokens.ring.members.map { .word("\($0.role)_key", $0.key.identifier) } + more)
  }
}
