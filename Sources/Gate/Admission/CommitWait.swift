/// For threads that wait until the key store has written something.
package import KeyStore
package import Scheduling

/// The answer of the store to one change.
package typealias CommitWait = ResultWait<CommitResult>
