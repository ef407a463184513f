/// What a load test does: how many, how fast, how long, each within a bound.
package import Dialing
package import Identity

package struct BenchPlan: Sendable {
  package var url: GateURL
  package var trust: ServerTrust
  /// `<team id>.<bundle id>`
  package var appID: String
  package var environment: AttestEnvironment
  /// Keys to register.
  package var devices: Int
  /// Sessions open at once while messages go round; 0 leaves that part out.
  package var sessions: Int
  /// Connections that do something at the same moment, each by a thread of its own.
  package var concurrency: Int
  /// Admissions a second over all threads; 0 is as fast as answers come.
  package var rate: Int
  /// Messages a second over all threads; 0 is as fast as answers come.
  package var messageRate: Int
  /// Of each of the two measured parts.
  package var seconds: Int
  package var messageBytes: Int
  /// For one answer.
  package var timeoutSeconds: Int

  package init(
    url: GateURL, trust: ServerTrust, appID: String, environment: AttestEnvironment, devices: Int,
    sessions: Int, concurrency: Int, rate: Int, messageRate: Int, seconds: Int, messageBytes: Int,
    timeoutSeconds: Int
  ) {
    self.url = url
    self.trust = trust
    self.appID = appID
    self.environment = environment
    self.devices = devices
    self.sessions = sessions
    self.concurrency = concurrency
    self.rate = rate
    self.messageRate = messageRate
    self.seconds = seconds
    self.messageBytes = messageBytes
    self.timeoutSeconds = timeoutSeconds
  }

  /// What one machine can still drive over blocking connections, and what a mistyped number must not exceed.
  package enum Bounds {
    package static let devices = 1...1000
    package static let sessions = 0...1000
    package static let concurrency = 1...256
    package static let rate = 0...10_000
    package static let messageRate = 0...1_000_000
    package static let seconds = 1...600
    /// The gate takes 64 KiB in one message unless told otherwise.
    package static let messageBytes = 1...65_536
  }

  /// What a gate as it comes (CHALLENGE_RATE 600/m, HANDSHAKE_RATE 30/s with a burst of 600) admits from one
  /// address without a word: 50 registrations, 400 admissions in 10 seconds, 50 sessions; and no more
  /// registrations at a time than it lets one address have waiting.
  package enum Defaults {
    package static let devices = 50
    package static let sessions = 50
    package static let concurrency = 8
    package static let rate = 40
    package static let messageRate = 0
    package static let seconds = 10
    package static let messageBytes = 64
  }

  /// Threads: no more than there is work for.
  package var workers: Int { min(concurrency, devices) }
}
