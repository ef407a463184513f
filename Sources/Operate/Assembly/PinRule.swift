/// Sees to it that phones know the server's key before it is in service (docs/devices-operating.md, "Changing the server's key").
import Bytes
import Control
import Crypto
package import Prompt
package import Registry
import System

package enum PinRule {
  /// At the start.
  /// - Returns: whether they are to be kept once nothing but that is missing (`publish`): a start that comes to nothing
  ///   has told nobody of them.
  package static func judge(_ settings: RegistrySettings, in store: RegistryDatabase, _ path: String) throws
    -> Bool
  {
    let standing: PublishedPins.Standing
    do throws(CallFailure) {
      standing = try PublishedPins.look(at: settings, in: store)
    } catch {
      throw RegistryOpening.unusable(path, error.ofStore)
    }
    switch standing {
    case .published: return false
    case .news: return true
    case .foreign(let key):
      complain(reason(key.pin.text, known: key.published.map(\.text)))
      throw ExitStatus.configuration
    }
  }

  /// Before the first answer names them.
  package static func publish(_ settings: RegistrySettings, _ registry: Registry) throws {
    if case .answered = registry.ask(TakePins(settings), by: .gate) { return }
    complain(
      "DEVICES_PATH: which keys phones are told of cannot be written: correct the disk, and start again")
    throw ExitStatus.ioError
  }

  /// At a reload, before anything is taken over.
  package static func take(
    _ settings: RegistrySettings, _ registry: Registry, tell: @escaping Teller
  ) throws {
    switch registry.ask(TakePins(settings), by: .gate) {
    case .answered, .value, .created: return
    case .refused(let refusal) where refusal.step == TakePins.foreignKey:
      tell(reason(settings.pins.first?.text ?? "none", known: nil))
    case .refused(let refusal): tell("the registry of devices refuses the server's key: \(refusal.step)")
    case nil, .keys, .permitted:
      tell("the registry of devices does not say whether phones know the server's key: try again")
    }
    throw ExitStatus.configuration
  }

  private static func reason(_ pin: String, known: [String]?) -> String {
    let published = known.map {
      $0.isEmpty ? " (none was published)" : " (but \($0.joined(separator: ", ")))"
    }
    return "TLS_CERT_PATH: paired phones were never told of its key, whose pin is \(pin)\(published ?? ""): "
      + "publish it by TLS_NEXT_KEY_PATH first (docs/devices-operating.md, \"Changing the server's key\"), or set "
      + "PINS_FORCE=true and pair all phones anew"
  }
}
