/// The key store's news as log lines.
import Bytes
import KeyStore
import Logging
import Time

enum StoreLog {
  static func report(_ event: KeyStoreEvent, to logger: Logger) {
    switch event {
    case .loaded(let keys, let bytes, let duration):
      logger.info(
        "store_loaded", metadata: ["keys": "\(keys)", "bytes": "\(bytes)", "duration": "\(text(duration))"])
    case .recovered(let segments, let facts):
      logger.notice("store_recovered", metadata: ["segments": "\(segments)", "facts": "\(facts)"])
    case .tornTail(let file, let offset, let bytes):
      logger.notice(
        "journal_torn", metadata: ["file": "\(file)", "offset": "\(offset)", "bytes": "\(bytes)"])
    case .unknownEnvironment(let keys):
      logger.warning("keys_without_environment", metadata: ["keys": "\(keys)"])
    case .malformedAppID(let keys, let first):
      logger.warning("keys_with_malformed_app_id", metadata: ["keys": "\(keys)", "keyId": "\(first.short)"])
    case .identifierMismatch(let keys, let first):
      logger.warning(
        "keys_with_foreign_identifier", metadata: ["keys": "\(keys)", "keyId": "\(first.short)"])
    case .snapshotWritten(let keys, let bytes, let duration):
      logger.debug(
        "snapshot_written",
        metadata: ["keys": "\(keys)", "bytes": "\(bytes)", "duration": "\(text(duration))"])
    case .snapshotFailed(let error, let retryAfter):
      logger.error("snapshot_failed", metadata: ["reason": "\(error)", "retryAfter": "\(text(retryAfter))"])
    case .journalFailed(let error):
      logger.critical("store_unavailable", metadata: ["reason": "\(error)"])
    case .journalHangs(let duration):
      logger.critical(
        "store_unavailable", metadata: ["reason": "the disk has not answered for \(text(duration))"])
    case .journalAnswered(let duration):
      logger.notice("store_available", metadata: ["reason": "the disk answered after \(text(duration))"])
    case .serviceRecovered:
      logger.notice("store_available")
    case .revocationsLost(let keys):
      for key in keys {
        logger.critical("revocation_lost", metadata: ["revokes": "App Attest key \(key.base64)"])
      }
    case .segmentNotRemoved(let file, let error):
      logger.warning("journal_not_removed", metadata: ["file": "\(file)", "reason": "\(error)"])
    }
  }

  private static func text(_ duration: Duration) -> String { "\(duration.wholeMilliseconds)ms" }
}
