/// The game's data as values of the app's own types, by Foundation's JSON coders.
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension GameEvent {
  /// The value of a GMCP, MSDP or MSSP event; nil for any other event, and for a GMCP name without data.
  /// - Throws: `malformed` where the data does not fit the type.
  public func decode<Value: Decodable>(_ type: Value.Type) throws(GameInputError) -> Value? {
    let text: String
    switch self {
    case .gmcp(_, let data?, _), .msdp(let data, _), .mssp(let data, _): text = data
    case .gmcp, .text, .prompt, .echo, .approvals, .codeWanted, .gap, .inputDropped, .doubt, .answering,
      .state:
      return nil
    }
    do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch { throw .malformed }
  }
}

extension GameSession {
  /// Sends a message of GMCP with a value of the app's; with input, in the order of the calls.
  /// - Parameters:
  ///   - package: such as `Char.Skills.Get`.
  ///   - value: becomes one JSON value.
  /// - Throws: `malformed` where that cannot be.
  public nonisolated func sendGMCP<Value: Encodable>(
    _ package: String, encoding value: Value
  ) throws(GameInputError) {
    let data: Data
    do { data = try JSONEncoder().encode(value) } catch { throw .malformed }
    try sendGMCP(package, String(decoding: data, as: UTF8.self))
  }
}
