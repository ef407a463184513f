/// Reads the keys and roots by which Android phones' evidence is judged (docs/settings.md, "Problems").
import AndroidKey
import Bytes
package import Configuration
import DeviceWire
import Gateway
import PlayIntegrity
import Prompt
internal import Requests
import System

package struct AndroidFiles {
  var playKeys: [PlayKeys] = []
  var roots: Set<Bytes32> = []

  /// All that is wrong with them is told before it gives up.
  static func read(
    _ files: GateConfiguration.Devices.Android, isProduction: Bool, tell: Teller
  ) throws -> AndroidFiles {
    var read = AndroidFiles()
    var isRead = true
    if let path = files.playKeysPath {
      do { read.playKeys = try keys(path, isProduction: isProduction, tell) } catch { isRead = false }
    }
    if let path = files.rootsPath {
      do { read.roots = try roots(path, tell) } catch { isRead = false }
    }
    guard isRead else { throw ExitStatus.configuration }
    return read
  }

  private static func keys(
    _ path: String, isProduction: Bool, _ tell: Teller
  ) throws -> [PlayKeys] {
    let name = "PLAY_INTEGRITY_KEYS_PATH=\(PrintableText.field(path))"
    let bytes = try contents(path, name, limit: PlayKeys.largestFile, tell)
    let keys: [PlayKeys]
    do throws(PlayKeysProblem) {
      keys = try PlayKeys.read(bytes.span)
    } catch {
      tell("\(name): \(error); copy both keys of each pair from the Play Console")
      throw ExitStatus.configuration
    }
    if isProduction, let index = keys.firstIndex(where: \.isForDevelopment) {
      tell(
        "\(name): [\(index)] is a pair of dev-certs, which is refused in production: whoever has that folder makes "
          + "tokens; copy both keys of each pair from the Play Console")
      throw ExitStatus.configuration
    }
    return keys
  }

  private static func roots(_ path: String, _ tell: Teller) throws -> Set<Bytes32> {
    let name = "ANDROID_ROOTS_PATH=\(PrintableText.field(path))"
    let bytes = try contents(path, name, limit: 1 << 20, tell)
    let roots = (try? AndroidRoots.hashes(inPEM: bytes.span)) ?? []
    guard !roots.isEmpty else {
      tell("\(name) holds no certificates; name a PEM file of roots")
      throw ExitStatus.configuration
    }
    return roots
  }

  private static func contents(
    _ path: String, _ name: String, limit: Int, _ tell: Teller
  ) throws -> [UInt8] {
    do {
      return try SystemFiles().contents(of: path, limit: limit)
    } catch {
      tell("\(name) cannot be read: \(error); correct the path or the file's owner and mode")
      throw ExitStatus.configuration
    }
  }
}

extension AndroidEvidence.Settings {
  package init(_ settings: GateConfiguration.Devices.Android, _ files: AndroidFiles) {
    self.init()
    apps = settings.apps
    playKeys = files.playKeys
    playMinimum =
      switch settings.playMinimum {
      case .device: .device
      case .strong: .strong
      }
    roots = files.roots
    revocationPath = settings.revocationPath
    revocationMaximumAge = settings.revocationMaximumAge
  }
}
