/// The limits of docs/settings.md, "Limits", each with the reason for its default. All are taken over at SIGHUP.
extension SettingTable {
  static let limits: [Setting] = handshakeAndHTTP + sessions + counts

  static let anyTimeout = Duration.milliseconds(1)...Duration.seconds(86_400)

  private static let handshakeAndHTTP: [Setting] = [
    limit(
      "TLS_HANDSHAKE_TIMEOUT", .duration(anyTimeout), \.limits.tlsHandshakeTimeout, "10s",
      "A handshake is two round trips; ten seconds suit the worst mobile network, then the connection is "
        + "closed."
    ),
    limit(
      "HANDSHAKE_RATE", .rate(burstOver: .seconds(20)), \.limits.handshakeRate, "30/s",
      "Handshakes of one address, 20 seconds' worth at once: a carrier's NAT fits, and one core is not "
        + "eaten up."
    ),
    limit(
      "HTTP_TIMEOUT", .duration(anyTimeout), \.stated.httpTimeout, "10s",
      "For a head, which is one packet or two, and for a body, of which a registration has 8 KiB; beyond, 408. A "
        + "connection may be idle three times as long between two requests."),
    limit(
      "HTTP_HEAD_MAX_BYTES", .size(1 << 10...1 << 20), \.limits.httpHeadBytes, "8KiB",
      "An upgrade with an assertion is under 1 KiB; beyond, 431 or 414. At most 64 fields in any case."),
    limit(
      "HTTP_BODY_MAX_BYTES", .size(1 << 10...16 << 20), \.limits.httpBodyBytes, "64KiB",
      "The largest attestation (16 KiB) fits in base64 with room, and so do both chains of an Android "
        + "phone, which take 8 KiB each at the most seen; chains as long as may be (ten certificates of "
        + "8 KiB) do not. Beyond, 413. At most 16 MiB over all connections, and 2 MiB, or one body, of an address."
    ),
    limit(
      "BACKEND_CONNECT_TIMEOUT", .duration(anyTimeout), \.limits.backendConnectTimeout, "3s",
      "The game is near; a player would rather read 503 than wait."),
  ]

  private static let sessions: [Setting] = [
    limit(
      "WS_MAX_FRAME_BYTES", .size(125...16 << 20), \.limits.frameBytes, "64KiB",
      "A frame of the client; typed lines are short, pastes are not. At least 125, as control frames may "
        + "be that long."
    ),
    limit(
      "WS_MAX_MESSAGE_BYTES", .size(125...64 << 20), \.limits.messageBytes, "64KiB",
      "A message of the client over all its fragments, bounded by bytes and not by their number; beyond, "
        + "1009."
    ),
    limit(
      "WS_COMPRESSION_WINDOWS", .size(0...64 << 30), \.limits.compressionWindowsBytes, "128MiB",
      "Reserved for apps whose messages refer to earlier ones, 32 KiB each: 4,096 apps at once. Then new connections of "
        + "such apps are not compressed."
    ),
    limit(
      "QUEUE_MAX_BYTES", .size(4 << 10...16 << 20), \.limits.queueBytes, "256KiB",
      "Held for a slow side, in each direction; then the faster side is not read until the queue drains."),
    limit(
      "WRITE_STALL_TIMEOUT", .duration(anyTimeout), \.limits.writeStallTimeout, "30s",
      "A side that takes nothing for so long while bytes wait is gone, and its session is closed."),
    limit(
      "PING_INTERVAL", .duration(anyTimeout), \.limits.pingInterval, "30s",
      "Mobile networks forget idle connections after a minute or more; a ping keeps them, and tells the "
        + "dead ones."
    ),
    limit(
      "PONG_TIMEOUT", .duration(anyTimeout), \.limits.pongTimeout, "90s",
      "Three pings without an answer end a session; longer than PING_INTERVAL. It stands still while "
        + "reading is off."
    ),
    limit(
      "DRAIN_TIMEOUT", .duration(anyTimeout), \.limits.drainTimeout, "7s",
      "Time for sessions to end at a stop, within the ten seconds after which container runtimes kill."),
    limit(
      "INPUT_RATE", .rate(burstOver: .seconds(10)), \.limits.inputRate, "20/s",
      "Messages of an app to the game where the gate speaks telnet, ten seconds' worth at once, each begun 4 KiB as "
        + "one; then it is not read."
    ),
    limit(
      "SESSION_BUFFER", .size(4 << 10...16 << 20), \.limits.sessionBufferBytes, "64KiB",
      "Kept for an app until it acknowledges it, some screens of text; without its connection the oldest goes "
        + "first."
    ),
    limit(
      "SESSION_BUFFERS_TOTAL", .size(64 << 10...64 << 30), \.limits.sessionBuffersBytes, "256MiB",
      "The same over all sessions, of which few are full; then the fullest without a connection loses most."),
  ]

  private static let counts: [Setting] = [
    Setting(
      "MAX_CONNECTIONS", .count(1...10_000_000), optional: \.stated.maximumConnections,
      otherwise: "20000, or (descriptor limit - 256 - MAX_DETACHED) / 2 if that is less", in: .limits,
      isReloadable: true,
      "Connections in all; beyond, closed before the handshake, so that those who are in stay well served."),
    limit(
      "MAX_PENDING", .count(1...10_000_000), \.limits.pending, "4096",
      "Connections not yet admitted, in all; the oldest is closed, so that a flood cannot lock the door."),
    limit(
      "MAX_CONNECTIONS_PER_ADDRESS", .count(1...10_000_000), \.limits.connectionsPerAddress, "256",
      "Of one IPv4 address or one IPv6 /64; generous, since thousands share an address behind a carrier's "
        + "NAT."
    ),
    limit(
      "MAX_SESSIONS_PER_KEY", .count(1...1000), \.limits.sessionsPerKey, "5",
      "Sessions of one device; the oldest is closed (1008), so that a lost network never locks its player "
        + "out."
    ),
    limit(
      "MAX_DETACHED", .count(1...10_000_000), \.stated.maximumDetached, "10000",
      "Sessions without a connection, and at most a quarter of the descriptors; then the one that waits longest "
        + "ends."
    ),
    limit(
      "CHALLENGE_RATE", .rate(burstOver: .seconds(60)), \.limits.challengeRate, "600/m",
      "Challenges for one address over all loops, a minute's worth at once; sized for a carrier's NAT, "
        + "then 429."
    ),
    limit(
      "REGISTER_RATE", .rate(burstOver: .seconds(60)), \.limits.registerRate, "120/m",
      "Registrations from one address over all loops, a minute's worth at once; each costs over a "
        + "millisecond."
    ),
    limit(
      "REGISTER_CHALLENGE_TTL", .duration(.seconds(60)...Duration.seconds(86_400)),
      \.limits.registerChallengeTTL, "24h",
      "How long a challenge for one key's registration is good; Apple may be out of reach for hours, and its leaves "
        + "live three days."
    ),
    limit(
      "DEVICE_RATE", .rate(burstOver: .seconds(60)), \.limits.deviceRate, "60/m",
      "Requests of one device by its tokens, a minute's worth at once: a person decides, a phone asks now and then."
    ),
    limit(
      "SERVICE_RATE", .rate(burstOver: .seconds(60)), \.limits.serviceRate, "600/m",
      "Requests of one service, a minute's worth at once; a game that asks for every move would flood the phones."
    ),
  ]

  private static func limit<Value>(
    _ name: String, _ syntax: SettingSyntax<Value>, _ field: Field<Value>,
    _ defaultText: String, _ reason: String
  ) -> Setting {
    Setting(name, syntax, field, default: defaultText, in: .limits, isReloadable: true, reason)
  }
}
