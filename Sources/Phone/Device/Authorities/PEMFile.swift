/// Certificates and keys in PEM files, read with the path in the error.
internal import Crypto
internal import Dialing
internal import System

enum PEMFile {
  static func certificate(_ path: String) throws(DeviceError) -> IssuedCertificate {
    let text = try read(path)
    do { return try IssuedCertificate(pem: text) } catch {
      throw .unusable(path: path, reason: error.description)
    }
  }

  static func key(_ path: String) throws(DeviceError) -> SigningKey {
    let text = try read(path)
    do { return try SigningKey.read(pem: text) } catch {
      throw .unusable(path: path, reason: error.description)
    }
  }

  static func read(_ path: String) throws(DeviceError) -> [UInt8] {
    do { return try WholeFile.read(path) } catch { throw .file(error) }
  }
}

package struct DevelopmentFile: Equatable, Sendable {
  package let name: String
  package let bytes: [UInt8]
  /// Holds a private key: for its owner alone.
  package let isSecret: Bool

  init(_ name: String, _ bytes: [UInt8], isSecret: Bool = false) {
    self.name = name
    self.bytes = bytes
    self.isSecret = isSecret
  }

  init(_ name: String, _ text: String, isSecret: Bool = false) {
    self.init(name, Array(text.utf8), isSecret: isSecret)
  }

  package var mode: UInt32 { isSecret ? 0o600 : 0o644 }
}
