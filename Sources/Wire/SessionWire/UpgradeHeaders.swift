/// The gate's own headers of an upgrade (docs/protocol.md, "Subprotocols" and "Compression").
internal import Bytes
internal import JSON
internal import PortcullisProtocol

/// `Portcullis-Resume: <id>;received=<n>[;state]`.
package struct ResumeRequest: Equatable, Sendable {
  package let id: SessionID
  /// How many counted messages the app has got.
  package let received: Int
  /// Whether it wants the state again.
  package let wantsState: Bool

  /// - Parameter value: of the field; two fields make a value that is none, however they are joined.
  package init(parsing value: Span<UInt8>) throws(UpgradeHeaderError) {
    guard value.count > SessionID.textBytes,
      let id = SessionID(text: value.extracting(0..<SessionID.textBytes))
    else { throw .resume }
    self.id = id
    var rest = value.extracting(SessionID.textBytes..<value.count)
    guard rest.startsWith(Self.receivedParameter) else { throw .resume }
    rest = rest.extracting(Self.receivedParameter.count..<rest.count)
    wantsState = rest.count > Self.stateParameter.count && Self.ends(rest, with: Self.stateParameter)
    if wantsState { rest = rest.extracting(0..<rest.count - Self.stateParameter.count) }
    guard let received = Self.number(rest) else { throw .resume }
    self.received = received
  }

  private static func ends(_ text: Span<UInt8>, with suffix: [UInt8]) -> Bool {
    text.extracting(text.count - suffix.count..<text.count).isEqual(to: suffix)
  }

  /// Up to 2⁵³, in its shortest form.
  private static func number(_ digits: Span<UInt8>) -> Int? {
    guard (1...16).contains(digits.count), digits.count == 1 || digits[0] != UInt8(ascii: "0") else {
      return nil
    }
    var number = 0
    for index in digits.indices {
      guard (0x30...0x39).contains(digits[index]) else { return nil }
      number = number * 10 + Int(digits[index] & 0x0F)
    }
    return number <= AppMessage.highestNumber ? number : nil
  }

  private static let receivedParameter = Array(";received=".utf8)
  private static let stateParameter = Array(";state".utf8)
}

/// `Portcullis-Client: <base64url of a client object>`.
package enum ClientHeader: Equatable, Sendable {
  case update(ClientUpdate)
  /// The object is well-formed, but this member of it is unfit: as with a message, nothing of it is taken.
  case refused(member: String)

  /// In bytes of the header's value.
  package static let limit = 1024

  /// - Parameter value: of the field; two fields make a value that is none, however they are joined.
  package init(parsing value: Span<UInt8>) throws(UpgradeHeaderError) {
    guard value.count <= Self.limit, Self.isOfURLAlphabet(value), let object = Base64.decode(value) else {
      throw .client
    }
    self = try Self(object: object.span)
  }

  private static func isOfURLAlphabet(_ text: Span<UInt8>) -> Bool {
    text.indices.allSatisfy { text[$0] != UInt8(ascii: "+") && text[$0] != UInt8(ascii: "/") }
  }

  private init(object: Span<UInt8>) throws(UpgradeHeaderError) {
    var header: Self?
    do throws(JSONError) {
      if let members = try ObjectMembers(object, Name.ofClient, depthLimit: MalformedMessage.depthLimit) {
        header =
          switch ClientUpdate.read(members) {
          case .success(let update): .update(update)
          case .failure(let unfit): .refused(member: unfit.member)
          }
      }
    } catch {
      throw .client
    }
    guard let header else { throw .client }
    self = header
  }
}

/// `Portcullis-Compression: off`, under each subprotocol.
package enum CompressionHeader: Equatable, Sendable {
  case off

  /// - Parameter value: of the field; two fields make a value that is none, however they are joined.
  package init(parsing value: Span<UInt8>) throws(UpgradeHeaderError) {
    guard value.isEqual(to: Self.offWord) else { throw .compression }
    self = .off
  }

  private static let offWord = Array("off".utf8)
}

/// Why an upgrade is refused with 400.
package enum UpgradeHeaderError: String, Error, CaseIterable, Sendable {
  case resume = "resume_header"
  case client = "client_header"
  case compression = "compression_header"

  /// The word for the log.
  package var step: String { rawValue }
}
