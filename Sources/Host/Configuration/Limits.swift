/// Every limit of docs/settings.md, "Limits" as a typed value; `SettingTable` has the defaults and the reasons.
package struct Limits: Sendable, Equatable {
  package internal(set) var tlsHandshakeTimeout = Duration.zero
  /// Per address.
  package internal(set) var handshakeRate = Rate()
  package internal(set) var httpHeadTimeout = Duration.zero
  package internal(set) var httpHeadBytes = 0
  package internal(set) var httpBodyTimeout = Duration.zero
  package internal(set) var httpBodyBytes = 0
  package internal(set) var httpIdleTimeout = Duration.zero
  package internal(set) var backendConnectTimeout = Duration.zero
  package internal(set) var frameBytes = 0
  package internal(set) var messageBytes = 0
  /// Reserved for the windows of clients whose compression keeps its context, over all connections.
  package internal(set) var compressionWindowsBytes = 0
  /// In each direction of a session.
  package internal(set) var queueBytes = 0
  package internal(set) var writeStallTimeout = Duration.zero
  package internal(set) var pingInterval = Duration.zero
  package internal(set) var pongTimeout = Duration.zero
  /// As stated or by default, and not more than the descriptor limit has room for.
  package internal(set) var connections = 0
  /// Not yet admitted, in all.
  package internal(set) var pending = 0
  package internal(set) var connectionsPerAddress = 0
  package internal(set) var sessionsPerKey = 0
  /// Per address, over all loops.
  package internal(set) var challengeRate = Rate()
  /// Per address, over all loops.
  package internal(set) var registerRate = Rate()
  /// How long a challenge for a registration is good.
  package internal(set) var registerChallengeTTL: Duration = .zero
  /// Per device.
  package internal(set) var deviceRate = Rate()
  /// Per service.
  package internal(set) var serviceRate = Rate()
  package internal(set) var drainTimeout = Duration.zero
  /// Messages of an app in all subprotocols in which the gate speaks telnet.
  package internal(set) var inputRate = Rate()
  /// Kept for an app until it acknowledges them.
  package internal(set) var sessionBufferBytes = 0
  /// Over all sessions.
  package internal(set) var sessionBuffersBytes = 0
  /// Sessions without a connection, in all; 0 where no session can be. As stated or by default, and not more than a
  /// quarter of the descriptors.
  package internal(set) var detached = 0

  /// Fields of one HTTP head: a browser sends about twenty.
  package static let headFields = 64
  /// What has arrived of request bodies, over all connections: room for 256 of the largest allowed by default.
  package static let bodiesInFlightBytes = 16 << 20
  /// Of them, those of one address, of one device or of one service.
  package static let bodiesOfAddressBytes = 2 << 20
  /// What `MAX_CONNECTIONS` is when nothing is stated and the descriptors suffice.
  package static let defaultConnections = 20_000
  /// Descriptors kept for listeners, files, epoll and the reserve.
  package static let reservedDescriptors = 256

  /// How many connections a descriptor limit has room for beside `detached` sessions, which need a descriptor each:
  /// a connection may need a second one, towards the game.
  package static func connections(forDescriptors limit: Int, detached: Int) -> Int {
    max(1, (limit - reservedDescriptors - detached) / 2)
  }

  /// The most sessions without a connection that a descriptor limit has room for: they may not take the place of
  /// those who play.
  package static func detached(forDescriptors limit: Int) -> Int {
    max(1, (limit - reservedDescriptors) / 4)
  }

  /// The smallest descriptor limit that cuts neither number.
  package static func descriptors(connections: Int, detached: Int) -> Int {
    reservedDescriptors + max(connections * 2 + detached, detached * 4)
  }
}

/// So many in a time, and how many at once after silence: a token bucket.
package struct Rate: Sendable, Equatable {
  package let count: Int
  package let per: Duration
  package let burst: Int

  package init(count: Int, per: Duration, burst: Int) {
    self.count = count
    self.per = per
    self.burst = burst
  }

  init() {
    self.init(count: 0, per: .zero, burst: 0)
  }
}
