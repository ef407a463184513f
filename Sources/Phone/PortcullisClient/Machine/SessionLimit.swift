/// The numbers of a session that nobody decides anew.

/// Seconds, messages and bytes.
enum SessionLimit {
  // The gate gets an ack at the latest every 32 messages, 16 KiB and 5 s; a second is left for the way.
  static let unacknowledgedMessages = 32
  static let unacknowledgedBytes = 16_384
  static let acknowledgementDelay = 4.0

  // More than the gate leaves unacknowledged, less than what fills the buffers of a connection.
  static let keptMessages = 128
  static let keptBytes = 65_536
  /// Of messages that wait for a connection.
  static let waitingMessages = 64

  /// Of one message, before the gate has named its own.
  static let messageBytes = 65_536
  /// Deeper than any game's data; a bound for the parser.
  static let jsonDepth = 64
  /// What the gate takes, without the object around it.
  static let sentDepth = 15
  /// Of the value of `Portcullis-Client`.
  static let clientFieldBytes = 1_024

  /// How long the first message after the 101 may take.
  static let openingPatience = 10.0
  /// How long an answer to a Close may take.
  static let closingPatience = 5.0
  /// After so long a silence the gate is asked whether it is there; sooner when something was typed since it was heard.
  static let silence = 60.0
  static let silenceAfterInput = 2.0
  /// Between two questions.
  static let pingDistance = 5.0
  /// After so long without an answer the app is told, and after so long the connection is given up.
  static let answerPatience = 3.0
  static let pongPatience = 15.0

  /// Between two looks whether the storage can be read by now.
  static let lockedPause = 5.0

  /// The first pause before another attempt lasts up to `firstPause`, each next one up to twice as long.
  static let firstPause = 1.0
  static let longestPause = 30.0
  /// While there is no network: what ends the pause is its coming back.
  static let offlinePause = 30.0
  /// Where the gate is not to be trusted; each next one is twice as long.
  static let untrustedPause = 30.0
  static let longestUntrustedPause = 600.0
  /// Where something in between answers; each next one is twice as long.
  static let interferencePause = 5.0
  static let longestInterferencePause = 60.0
  /// Of a pause that the gate named, or something in between that does not know what it asks for.
  static let longestNamedPause = 3_600.0
  /// What a pause that the gate named is prolonged by, at most.
  static let retrySpread = 2.0
}
