/// What the store has to say for the log.
package import Bytes
package import System

package enum KeyStoreEvent: Equatable, Sendable {
  case loaded(keys: Int, bytes: Int64, duration: Duration)
  /// Facts from journals that a stop without a last snapshot left behind.
  case recovered(segments: Int, facts: Int)
  /// A batch that was never acknowledged, cut off.
  case tornTail(file: String, offset: Int64, bytes: Int64)
  /// Keys whose record has no `environment`: they are accepted, which is worth a warning.
  case unknownEnvironment(keys: Int)
  /// Keys whose `appId` is no App ID: kept as they are, but nobody is admitted with them.
  case malformedAppID(keys: Int, first: KeyIdentifier)
  /// Keys whose identifier is not SHA-256 of their point: kept, but no genuine device can use them.
  case identifierMismatch(keys: Int, first: KeyIdentifier)
  case snapshotWritten(keys: Int, bytes: Int64, duration: Duration)
  /// The journal goes on meanwhile.
  case snapshotFailed(SystemError, retryAfter: Duration)
  /// Nothing is accepted until `serviceRecovered`.
  case journalFailed(SystemError)
  case serviceRecovered
  /// Writing a batch has taken this long and goes on; nothing new is accepted until the disk answers.
  case journalHangs(Duration)
  /// The batch of `journalHangs` was written after all, after this time.
  case journalAnswered(after: Duration)
  /// The store closes, and these were revoked in memory alone.
  case revocationsLost([KeyIdentifier])
  /// A journal file that is no longer needed stays; the next snapshot tries again.
  case segmentNotRemoved(file: String, SystemError)
}
