/// The text messages of apps under `portcullis.v1`: one JSON object each, whose `type` says what it is.
internal import JSON
internal import PortcullisProtocol
internal import TelnetWire

extension AppMessage {
  /// - Parameter text: the payload of one text message, whole.
  package init(parsing text: Span<UInt8>) throws(MalformedMessage) {
    var found: AppMessage?
    do throws(JSONError) {
      guard let members = try ObjectMembers(text, Name.all, depthLimit: MalformedMessage.depthLimit) else {
        throw JSONError(.unsuitable, at: 0)
      }
      found = Self.message(members)
    } catch {
      throw MalformedMessage(error)
    }
    guard let found else { throw .noType }
    self = found
  }

  /// Nil without a type.
  private static func message(_ members: borrowing ObjectMembers) -> AppMessage? {
    guard let type = members.string(Name.type) else { return nil }
    switch MessageKind(rawValue: String(decoding: type, as: UTF8.self)) {
    case .client?:
      switch ClientUpdate.read(members) {
      case .success(let update): return .client(update)
      case .failure(let unfit): return .refused(Refusal(kind: .client, member: unfit.member))
      }
    case .gmcp?:
      guard let package = members.string(Name.package), isPackage(package) else {
        return .refused(Refusal(kind: .gmcp, member: MemberName.package))
      }
      return .gmcp(package: package, data: members.json(Name.data))
    case .msdp?:
      guard members.isObject(Name.data), let data = members.json(Name.data) else {
        return .refused(Refusal(kind: .msdp, member: MemberName.data))
      }
      return .msdp(data)
    case .ack?:
      guard let received = members.number(Name.received, upTo: highestNumber) else {
        return .refused(Refusal(kind: .ack, member: MemberName.received))
      }
      return .ack(received: received)
    case .leave?: return .leave
    // Only the gate has these to say.
    case .session?, .prompt?, .echo?, .mssp?, .gap?, .closing?, .ended?, .approvals?, .otp?, nil:
      return .unknown
    }
  }

  /// A letter, and up to 63 letters, digits, `_`, `.` and `-` more.
  static func isPackage(_ name: [UInt8]) -> Bool {
    guard (1...64).contains(name.count), isLetter(name[0]) else { return false }
    return name.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
        true
      default: isLetter(byte)
      }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// Numbers of messages fit a JavaScript number.
  static let highestNumber = 1 << 53
}

/// The members that are read.
enum Name {
  static let type = ObjectMembers.Name(MemberName.type)
  static let package = ObjectMembers.Name(MemberName.package)
  static let data = ObjectMembers.Name(MemberName.data)
  static let received = ObjectMembers.Name(MemberName.received)
  static let name = ObjectMembers.Name(MemberName.name)
  static let version = ObjectMembers.Name(MemberName.version)
  static let terminal = ObjectMembers.Name(MemberName.terminal)
  static let features = ObjectMembers.Name(MemberName.features)
  static let columns = ObjectMembers.Name(MemberName.columns)
  static let rows = ObjectMembers.Name(MemberName.rows)
  static let gmcp = ObjectMembers.Name(MemberName.gmcp)
  static let ofClient = [name, version, terminal, features, columns, rows, gmcp]
  static let all = [type, package, data, received] + ofClient

  // Of `json.mudstandards.org`, with `data`.
  static let proto = ObjectMembers.Name(MemberName.proto)
  static let id = ObjectMembers.Name(MemberName.id)
  static let ofEnvelope = [proto, id, data]
}

// MARK: - What an app says of itself

extension ClientUpdate {
  /// The member that is not what it must be.
  struct Unfit: Error {
    let member: String
  }

  static func read(_ members: borrowing ObjectMembers) -> Result<ClientUpdate, Unfit> {
    do throws(Unfit) {
      var update = ClientUpdate()
      update.name = try text(members, Name.name, MemberName.name)
      update.version = try text(members, Name.version, MemberName.version)
      update.terminal = try text(members, Name.terminal, MemberName.terminal)
      if members.has(Name.features) {
        guard let words = members.strings(Name.features, upTo: mostWords) else {
          throw Unfit(member: MemberName.features)
        }
        update.features = Features(
          hasTrueColor: words.contains(Array(ClientFeature.trueColor.rawValue.utf8)),
          isScreenReader: words.contains(Array(ClientFeature.screenReader.rawValue.utf8)))
      }
      update.columns = try count(members, Name.columns, MemberName.columns)
      update.rows = try count(members, Name.rows, MemberName.rows)
      if members.has(Name.gmcp) {
        guard let packages = members.strings(Name.gmcp, upTo: mostWords),
          packages.allSatisfy({ !$0.isEmpty })
        else {
          throw Unfit(member: MemberName.gmcp)
        }
        update.gmcp = packages
      }
      return .success(update)
    } catch {
      return .failure(error)
    }
  }

  /// More than what may be kept has room for.
  private static let mostWords = ClientDescription.keptBytesLimit

  private static func text(
    _ members: borrowing ObjectMembers, _ name: ObjectMembers.Name, _ word: String
  ) throws(Unfit) -> ClientText? {
    guard members.has(name) else { return nil }
    guard let bytes = members.string(name), let text = ClientText(bytes) else { throw Unfit(member: word) }
    return text
  }

  private static func count(
    _ members: borrowing ObjectMembers, _ name: ObjectMembers.Name, _ word: String
  ) throws(Unfit) -> UInt16? {
    guard members.has(name) else { return nil }
    guard let number = members.number(name, upTo: Int(UInt16.max)) else { throw Unfit(member: word) }
    return UInt16(number)
  }
}
