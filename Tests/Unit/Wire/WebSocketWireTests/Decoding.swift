import Kit
import Testing

@testable import WebSocketWire

/// The events of a stream without the accident of how it was cut: payload of a frame is one run.
enum Happening: Equatable, CustomStringConvertible {
  case data(type: MessageType, isCompressed: Bool, starts: Bool, ends: Frame, bytes: [UInt8])
  case ping([UInt8])
  case pong([UInt8])
  case close(code: UInt16?, reason: String)
  case violation(WebSocketViolation)

  /// How far the run got: into its frame, to the end of it, or to the end of the message.
  enum Frame { case unfinished, fragment, message }

  var description: String {
    switch self {
    case .data(let type, let isCompressed, let starts, let ends, let bytes):
      "\(type) rsv1=\(isCompressed) starts=\(starts) \(ends) \(bytes.count) \(bytes.prefix(20))"
    case .ping(let bytes): "ping \(bytes.count)"
    case .pong(let bytes): "pong \(bytes.count)"
    case .close(let code, let reason): "close \(code.map(String.init) ?? "-") \(reason)"
    case .violation(let violation): "violation \(violation)"
    }
  }
}

/// A decoder, and the happenings it has told of.
struct Receiver {
  private(set) var decoder: FrameDecoder
  private(set) var happenings: [Happening] = []

  init(
    role: FrameDecoder.Role = .server, limits: FrameDecoder.Limits = .init(), acceptsCompressed: Bool = false
  ) {
    decoder = FrameDecoder(role: role, limits: limits, acceptsCompressed: acceptsCompressed)
  }

  /// Another read: `lead` bytes of the buffer are free before it, as after an earlier read that was not
  /// written yet.
  mutating func receive(_ bytes: [UInt8], lead: Int = 0) {
    var storage = [UInt8](repeating: 0xEE, count: lead) + bytes + [0xDD, 0xDD]
    var buffer = storage.mutableSpan
    var position = lead
    var output = lead > 0 ? lead / 2 : 0
    let end = lead + bytes.count
    while true {
      let before = output
      let event = decoder.next(&buffer, position: &position, end: end, output: &output)
      var payload: [UInt8] = []
      for index in before..<output { payload.append(buffer[index]) }
      add(event, payload, start: before)
      if event == .needMore { break }
    }
    #expect(position == end)
    #expect(buffer[end] == 0xDD)
    for index in 0..<(lead > 0 ? lead / 2 : 0) { #expect(buffer[index] == 0xEE) }
  }

  private mutating func add(_ event: FrameEvent, _ payload: [UInt8], start: Int) {
    switch event {
    case .needMore: break
    case .data(let piece):
      #expect(piece.start == start)
      #expect(piece.endsFrame || !piece.endsMessage)
      let ends: Happening.Frame = piece.endsMessage ? .message : piece.endsFrame ? .fragment : .unfinished
      if case .data(piece.type, piece.isCompressed, let starts, .unfinished, let bytes) = happenings.last {
        #expect(!piece.startsMessage)
        happenings[happenings.count - 1] = .data(
          type: piece.type, isCompressed: piece.isCompressed, starts: starts, ends: ends,
          bytes: bytes + payload)
      } else {
        happenings.append(
          .data(
            type: piece.type, isCompressed: piece.isCompressed, starts: piece.startsMessage, ends: ends,
            bytes: payload))
      }
    case .ping(let bytes): happenings.append(.ping(bytes))
    case .pong(let bytes): happenings.append(.pong(bytes))
    case .close(let request):
      happenings.append(.close(code: request.code?.rawValue, reason: request.reason))
    case .violation(let violation): happenings.append(.violation(violation))
    }
  }
}

/// How a decoder is set up for a case.
struct Setup {
  var role = FrameDecoder.Role.server
  var limits = FrameDecoder.Limits()
  var acceptsCompressed = false

  func whole(_ bytes: [UInt8], lead: Int = 0) -> [Happening] {
    var receiver = Receiver(role: role, limits: limits, acceptsCompressed: acceptsCompressed)
    receiver.receive(bytes, lead: lead)
    return receiver.happenings
  }

  func byteByByte(_ bytes: [UInt8]) -> [Happening] {
    var receiver = Receiver(role: role, limits: limits, acceptsCompressed: acceptsCompressed)
    for byte in bytes { receiver.receive([byte]) }
    return receiver.happenings
  }

  func randomly(_ bytes: [UInt8], using random: inout SplitMix) -> [Happening] {
    var receiver = Receiver(role: role, limits: limits, acceptsCompressed: acceptsCompressed)
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 0...min(rest.count, 300), using: &random))
      receiver.receive(Array(piece), lead: Int.random(in: 0...70, using: &random))
      rest = rest.dropFirst(piece.count)
    }
    return receiver.happenings
  }

  /// How many bytes it takes until something is wrong; nil when nothing is.
  func bytesToViolation(_ bytes: [UInt8]) -> Int? {
    var receiver = Receiver(role: role, limits: limits, acceptsCompressed: acceptsCompressed)
    for (index, byte) in bytes.enumerated() {
      receiver.receive([byte])
      if case .violation = receiver.happenings.last { return index + 1 }
    }
    return nil
  }
}

/// Decoded whole, byte by byte, in random pieces, and by the model.
func agree(
  _ bytes: [UInt8], _ setup: Setup, _ expected: [Happening], _ location: SourceLocation = #_sourceLocation
) {
  #expect(setup.whole(bytes) == expected, sourceLocation: location)
  #expect(setup.byteByByte(bytes) == expected, sourceLocation: location)
  #expect(Model.decode(bytes, setup) == expected, sourceLocation: location)
  var random = SplitMix(seed: 6455)
  for _ in 0..<4 {
    let cut = setup.randomly(bytes, using: &random)
    #expect(cut == expected, sourceLocation: location)
  }
}

func agree(
  _ bytes: [UInt8], _ expected: [Happening], _ location: SourceLocation = #_sourceLocation
) {
  agree(bytes, Setup(), expected, location)
}

func text(_ text: String, starts: Bool = true, _ ends: Happening.Frame = .message) -> Happening {
  .data(type: .text, isCompressed: false, starts: starts, ends: ends, bytes: Array(text.utf8))
}

func binary(_ bytes: [UInt8], starts: Bool = true, _ ends: Happening.Frame = .message) -> Happening {
  .data(type: .binary, isCompressed: false, starts: starts, ends: ends, bytes: bytes)
}

let key = MaskingKey(0x37, 0xFA, 0x21, 0x3D)

/// A masked frame.
func frame(_ opcode: Opcode, _ payload: [UInt8] = [], fin: Bool = true, rsv1: Bool = false) -> [UInt8] {
  ClientFrame.encode(opcode, payload, mask: key, fin: fin, rsv1: rsv1)
}

func frame(_ opcode: Opcode, _ text: String, fin: Bool = true) -> [UInt8] {
  frame(opcode, Array(text.utf8), fin: fin)
}
