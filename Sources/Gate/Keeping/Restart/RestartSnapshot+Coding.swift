/// Snapshots as bytes, in the first layout, and back from bytes that another program may have written.
internal import SessionWire
internal import System
internal import TelnetWire

extension RestartSnapshot {
  static let layout: UInt8 = 1

  /// In time and memory proportional to what it has.
  package func coded() -> [UInt8] {
    var fields = FieldWriter(
      capacity: outgoing.records.count + unread.count + text.count + toGame.count + 1024)
    fields.put(Self.layout)
    outgoing.write(to: &fields)
    incoming.write(to: &fields)
    again.write(to: &fields)
    telnet.write(to: &fields)
    fields.put(held)
    fields.put(long: unread)
    fields.put(long: text)
    fields.put(long: toGame)
    return fields.bytes
  }

  package init(coded bytes: [UInt8]) throws(KeptError) {
    var fields = FieldReader(bytes)
    let layout = try fields.byte()
    guard layout == Self.layout else { throw .unknownLayout(UInt64(layout)) }
    outgoing = try OutgoingSnapshot(from: &fields)
    incoming = try IncomingSnapshot(from: &fields)
    again = try AgainSnapshot(from: &fields)
    telnet = try TelnetSnapshot(from: &fields)
    held = try fields.number()
    unread = try fields.long()
    text = try fields.long()
    guard String(validating: text, as: UTF8.self) != nil else { throw .unfit(.bytes) }
    toGame = try fields.long()
    guard toGame.count == incoming.waiting else { throw .unfit(.queue) }
    try fields.finish()
  }
}

extension OutgoingSnapshot {
  func write(to fields: inout FieldWriter) {
    for number in [last, acknowledged, highestSent, firstKept] { fields.put(number) }
    fields.put(UInt8(loss == nil ? 0 : loss?.isUnknown == true ? 2 : 1))
    if let loss { fields.put(loss.next) }
    fields.put(long: records)
  }

  init(from fields: inout FieldReader) throws(KeptError) {
    let last = try fields.count(.messages)
    let acknowledged = try fields.count(.messages)
    let highestSent = try fields.count(.messages)
    let firstKept = try fields.count(.messages)
    var loss: Loss?
    switch try fields.byte() {
    case 0: break
    case 1: loss = Loss(isUnknown: false, next: try fields.count(.messages))
    case 2: loss = Loss(isUnknown: true, next: try fields.count(.messages))
    default: throw .unfit(.messages)
    }
    let snapshot = OutgoingSnapshot(
      checking: try fields.long(), firstKept: firstKept, last: last, acknowledged: acknowledged,
      highestSent: highestSent, loss: loss)
    guard let snapshot else { throw .unfit(.messages) }
    self = snapshot
  }
}

extension IncomingSnapshot {
  func write(to fields: inout FieldWriter) {
    fields.put(handled)
    fields.put(waiting)
    fields.put(UInt8(isTorn ? 1 : 0))
    fields.put(UInt32(ends.count))
    for end in ends { fields.put(end) }
  }

  init(from fields: inout FieldReader) throws(KeptError) {
    let handled = try fields.count(.queue)
    let waiting = try fields.count(.queue)
    let isTorn = try fields.flag(.queue)
    let count = Int(try fields.number(UInt32.self))
    guard count <= fields.left / 8 else { throw .endsEarly }
    var ends: [Int] = []
    ends.reserveCapacity(count)
    for _ in 0..<count { ends.append(try fields.count(.queue)) }
    guard let snapshot = IncomingSnapshot(checking: handled, waiting: waiting, ends: ends, isTorn: isTorn)
    else {
      throw .unfit(.queue)
    }
    self = snapshot
  }
}

extension AgainSnapshot {
  func write(to fields: inout FieldWriter) {
    fields.put(UInt8(isEchoing ? 1 : 0))
    fields.put(UInt32(values.count))
    for value in values {
      fields.put(value.kind.rawValue)
      fields.put(long: value.name)
      fields.put(optional: value.data)
    }
  }

  init(from fields: inout FieldReader) throws(KeptError) {
    let isEchoing = try fields.flag(.again)
    let count = Int(try fields.number(UInt32.self))
    // The shortest has a kind, a length, and no data.
    guard count <= fields.left / 6 else { throw .endsEarly }
    var values: [Value] = []
    values.reserveCapacity(count)
    for _ in 0..<count {
      guard let kind = Kind(rawValue: try fields.byte()) else { throw .unfit(.again) }
      let name = try fields.long()
      guard let value = Value(checking: kind, name: name, data: try fields.optional(.again)) else {
        throw .unfit(.again)
      }
      values.append(value)
    }
    self.init(isEchoing: isEchoing, values: values)
  }
}
