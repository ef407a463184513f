/// One peer's socket, with TLS or without, and the bytes that wait for it.
internal import Bytes
internal import Sockets
internal import System
internal import TLS

struct AdminLeg: ~Copyable {
  enum Reading: Equatable {
    case bytes(Int)
    case wouldBlock
    /// This turn's share is used up.
    case later
    case ended
  }

  enum Sending: Equatable {
    case drained
    case blocked
    case gone
  }

  enum Shaking: Equatable {
    case done
    case wouldBlock
    case later
    case failed
  }

  let socket: Socket
  private var tls: TLSSession?
  private let outbox: Outbox
  private var unsent = ByteQueue()
  private var isWritable = true
  private var hasFailed = false
  /// There may be something to read, or the handshake may go on.
  private(set) var mayHaveInput = true

  init(_ socket: consuming Socket, tls: consuming TLSSession?, _ outbox: Outbox) {
    self.socket = socket
    self.tls = tls
    self.outbox = outbox
  }

  mutating func note(_ event: ReadyEvent) {
    if event.isReadable {
      mayHaveInput = true
      if tls != nil { tls?.noteReadable(hasHangup: event.hasHangup) }
    }
    if event.isWritable { isWritable = true }
  }

  // MARK: Reading

  mutating func handshake() -> Shaking {
    guard tls != nil, let result = tls?.handshake() else { return .done }
    takeOutbox()
    switch result {
    case .finished: return .done
    case .wantsTurn: return .later
    case .wantsInput:
      mayHaveInput = false
      return .wouldBlock
    case .failed:
      // The alert that explains it may still go out.
      _ = flush()
      return .failed
    }
  }

  mutating func beginTurn() {
    if tls != nil { tls?.beginTurn(.newcomer) }
  }

  mutating func read(into bytes: inout MutableSpan<UInt8>) -> Reading {
    guard mayHaveInput else { return .wouldBlock }
    let reading = tls != nil ? readRecord(into: &bytes) : readPlain(into: &bytes)
    switch reading {
    case .bytes, .later: break
    case .wouldBlock, .ended: mayHaveInput = false
    }
    return reading
  }

  private borrowing func readPlain(into bytes: inout MutableSpan<UInt8>) -> Reading {
    switch socket.receive(into: &bytes) {
    case .bytes(let count): .bytes(count)
    case .wouldBlock: .wouldBlock
    case .ended, .failed: .ended
    }
  }

  private mutating func readRecord(into bytes: inout MutableSpan<UInt8>) -> Reading {
    guard let result = tls?.read(into: &bytes) else { return .ended }
    // OpenSSL answers some messages by itself.
    takeOutbox()
    switch result {
    case .bytes(let count): return .bytes(count)
    case .wantsInput: return .wouldBlock
    case .wantsTurn: return .later
    case .closed, .truncated, .excessive, .failed: return .ended
    }
  }

  // MARK: Sending

  mutating func send(_ bytes: [UInt8]) {
    if tls != nil {
      if tls?.write(bytes.span) != true { hasFailed = true }
      takeOutbox()
    } else {
      unsent.append(bytes.span)
    }
  }

  private mutating func takeOutbox() {
    let outbox = outbox
    guard !outbox.isEmpty else { return }
    unsent.append(outbox.bytes)
    outbox.reset()
  }

  var hasUnsent: Bool { !unsent.isEmpty }

  mutating func flush() -> Sending {
    if hasFailed { return .gone }
    while !unsent.isEmpty {
      guard isWritable else { return .blocked }
      switch socket.send(unsent.bytes) {
      case .bytes(let count): unsent.removeFirst(count)
      case .wouldBlock: isWritable = false
      case .failed: return .gone
      }
    }
    return .drained
  }

  /// What is unsent goes out, and then nothing more.
  mutating func finish() {
    guard tls != nil else { return }
    tls?.finishSending()
    takeOutbox()
  }

  /// Reads past what still comes, undecrypted: a close with unread bytes would be a RST, and cut the answer.
  mutating func discard(with bytes: inout MutableSpan<UInt8>) -> Reading {
    guard mayHaveInput else { return .wouldBlock }
    let reading = readPlain(into: &bytes)
    if reading == .wouldBlock { mayHaveInput = false }
    return reading
  }
}
