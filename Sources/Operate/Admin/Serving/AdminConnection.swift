/// One peer of the admin listener, from the accept to the close: what it is about, and until when it may be.
internal import Addresses
internal import HTTPWire
internal import Sockets
internal import Time
internal import TLS

/// The fast thread alone uses it.
final class AdminConnection {
  enum Stage: Equatable {
    case handshake
    /// A request is awaited, or comes.
    case request
    /// The slow thread has it.
    case work
    /// An answer is on its way.
    case answer
    /// The same, piece by piece.
    case download
    /// All is said; what still comes is not read.
    case lingering
  }

  let token: UInt64
  let transport: AdminTransport
  /// Nil at a UNIX socket.
  let peer: Endpoint?
  var leg: AdminLeg
  var conversation = AdminConversation()
  private(set) var stage: Stage
  /// When it ends unless something happens before.
  private(set) var deadline: MonotonicTime
  /// When its stage began, or its request; until the first answer, when it came. Who waits longest makes room.
  private(set) var since: MonotonicTime
  /// It has asked for something and got it, or not; one that has not has its time from the accept on.
  private(set) var hasBeenAnswered = false
  /// Of the request that is being answered.
  var manner = AdminReply.Manner(date: "", isHead: false, isClosing: false, isChunked: true)
  /// Who has asked for what the slow thread does.
  var actor: AdminActor?
  /// What that one asked for is to be looked at, and no change.
  var isLooking = false
  /// Of the answers that the peer has already.
  var knownTags: [String] = []
  /// Of a download; nil otherwise.
  var body: (any AdminBody)?
  /// A piece of it has been asked for.
  var awaitsPiece = false
  /// Its last piece has come.
  var hasAllPieces = false

  init(
    token: UInt64, _ socket: consuming Socket, tls: consuming TLSSession?, _ outbox: Outbox,
    transport: AdminTransport, peer: Endpoint? = nil,
    now: MonotonicTime
  ) {
    self.token = token
    self.peer = peer
    self.transport = transport
    stage = transport == .tls ? .handshake : .request
    leg = AdminLeg(socket, tls: tls, outbox)
    since = now
    deadline = now + Time.request
  }

  enum Time {
    /// From the accept until the first request is whole, a handshake included, and from the first byte of each other one;
    /// and for an answer, or a piece of one, until the peer has taken it.
    static let request: Duration = .seconds(10)
    /// Between an answer and the next request.
    static let idle: Duration = .seconds(30)
    /// For the peer's end, so that no RST cuts the answer.
    static let lingering: Duration = .seconds(2)
  }

  func move(to stage: Stage, now: MonotonicTime) {
    self.stage = stage
    if stage == .answer || stage == .download { hasBeenAnswered = true }
    // However it goes about its first request, it gets no more time for it.
    if stage == .request, !hasBeenAnswered { return }
    since = now
    switch stage {
    case .handshake, .answer, .download: deadline = now + Time.request
    case .request: deadline = now + (conversation.hasBegun ? Time.request : Time.idle)
    // How long it takes is not the peer's doing.
    case .work: deadline = .never
    case .lingering: deadline = now + Time.lingering
    }
  }

  /// The first byte of a request came.
  func noteBegun(now: MonotonicTime) {
    guard hasBeenAnswered else { return }
    since = now
    deadline = now + Time.request
  }

  /// A piece has been asked for, and how long that takes is not the peer's doing.
  func awaitPiece() {
    awaitsPiece = true
    deadline = .never
  }

  /// To be called before the close. Where the end of the connection is the end of a download, one that is cut off ends
  /// with a reset, so that nobody takes what has come for the whole.
  func tellWhetherCut() {
    if stage == .download, !manner.isChunked { leg.socket.resetOnClose() }
  }

  /// For whom its place counts: an address, or for IPv6 its /64.
  var payer: IPAddress? { peer?.address.accountingPrefix }

  /// It has asked for nothing yet that was answered, or is being.
  var isUnanswered: Bool { !hasBeenAnswered && (stage == .handshake || stage == .request) }

  /// How soon it makes room for another, the lowest first; nil for never. Who waits between two requests loses nothing.
  /// Who has said nothing yet goes no sooner than who has sent a byte: a probe says something in a moment.
  var dispensability: Int? {
    switch stage {
    case .lingering: 0
    case .request: hasBeenAnswered && !conversation.hasBegun ? Self.idle : 2
    case .handshake: 2
    case .answer: 3
    case .download: 4
    case .work: nil
    }
  }

  /// The dispensability of one that waits between two requests.
  static let idle = 1
}
