/// Reads the file of keys, `[{"decryption_key": …, "verification_key": …}, …]`, both base64 as the Play Console shows
/// them; a pair that `dev-certs` has made says so in a third member, `"development": true`.
internal import Bytes
internal import Crypto
internal import JSON

/// What is wrong with the file, and in which of its pairs. It never holds what stands there: these are keys.
package struct PlayKeysProblem: Error, Equatable, Sendable, CustomStringConvertible {
  /// `[1]: decryption_key is not base64 of 32 bytes`
  package let description: String

  fileprivate init(_ description: String) {
    self.description = description
  }

  /// - Parameter index: counted from 0, as `jq` does.
  fileprivate init(pair index: Int, _ reason: String) {
    self.init("[\(index)]: \(reason)")
  }
}

extension PlayKeys {
  private static let decryptionName = "decryption_key"
  private static let verificationName = "verification_key"
  private static let developmentName = "development"

  /// At least one pair, and no decryption key twice: the second would never be tried.
  package static func read(_ file: Span<UInt8>) throws(PlayKeysProblem) -> [PlayKeys] {
    guard file.count <= largestFile else { throw PlayKeysProblem("larger than \(largestFile) bytes") }
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: file, depthLimit: 4)
    } catch {
      throw PlayKeysProblem("not JSON: \(error)")
    }
    guard let pairs = value.array else {
      throw PlayKeysProblem("not an array of objects with \(decryptionName) and \(verificationName)")
    }
    guard (1...limit).contains(pairs.count) else {
      throw PlayKeysProblem("\(pairs.count) pairs of keys instead of 1 to \(limit)")
    }
    let verifier = P256Verifier()
    var keys: [PlayKeys] = []
    for (index, value) in pairs.enumerated() {
      let pair = try pair(value, at: index, verifier)
      if let other = keys.firstIndex(where: { $0.decryption == pair.decryption }) {
        throw PlayKeysProblem(pair: index, "\(decryptionName) is that of [\(other)]")
      }
      keys.append(pair)
    }
    return keys
  }

  private static func pair(
    _ value: JSONValue, at index: Int, _ verifier: P256Verifier
  ) throws(PlayKeysProblem) -> PlayKeys {
    guard let object = value.object else { throw PlayKeysProblem(pair: index, "not an object") }
    let known = [decryptionName, verificationName, developmentName]
    for member in object.members where !known.contains(member.name) {
      throw PlayKeysProblem(pair: index, "unknown member \(PrintableText.field(member.name, limit: 64))")
    }
    guard let decryption = try bytes(decryptionName, of: object, at: index).flatMap({ Bytes32($0) }) else {
      throw PlayKeysProblem(pair: index, "\(decryptionName) is not base64 of 32 bytes")
    }
    guard let spki = try bytes(verificationName, of: object, at: index),
      let point = P256Point(subjectPublicKeyInfo: spki.span)
    else {
      throw PlayKeysProblem(
        pair: index, "\(verificationName) is not base64 of a P-256 key's SubjectPublicKeyInfo, 91 bytes")
    }
    guard verifier.isOnCurve(point) else {
      throw PlayKeysProblem(pair: index, "\(verificationName) is no point on P-256")
    }
    return PlayKeys(
      decryption: decryption, verification: point,
      isForDevelopment: try isForDevelopment(object, at: index))
  }

  private static func isForDevelopment(
    _ object: JSONObject, at index: Int
  ) throws(PlayKeysProblem) -> Bool {
    guard let value = object[developmentName] else { return false }
    guard let isForDevelopment = value.boolean else {
      throw PlayKeysProblem(pair: index, "\(developmentName) is neither true nor false")
    }
    return isForDevelopment
  }

  /// Nil where it is not base64.
  private static func bytes(
    _ name: String, of object: JSONObject, at index: Int
  ) throws(PlayKeysProblem) -> [UInt8]? {
    guard let value = object[name] else { throw PlayKeysProblem(pair: index, "\(name) is missing") }
    guard let text = value.string else { throw PlayKeysProblem(pair: index, "\(name) is not a string") }
    return Base64.decode(Array(text.utf8).span)
  }
}
