/// Sees to it that phones know the server's key before it is in service (docs/devices.md, "Changing the server's key").
import ArgumentParser
import Bytes
import Crypto
import Registry
import System

enum PinRule {
  /// At the start.
  static func take(_ settings: RegistrySettings, into store: SQLiteStore, _ path: String) throws {
    let foreign: PublishedPins.ForeignKey?
    do throws(StoreFailure) {
      foreign = try PublishedPins.take(settings, into: store)
    } catch {
      throw RegistryOpening.unusable(path, error)
    }
    guard let foreign else { return }
    complain(reason(foreign.pin.text, known: foreign.published.map(\.text)))
    throw ExitStatus.configuration.code
  }

  /// At a reload, before anything is taken over.
  static func take(
    _ settings: RegistrySettings, _ registry: Registry, tell: @escaping Startup.Teller
  ) throws {
    switch registry.ask(TakePins(settings), by: .gate) {
    case .answered, .created: return
    case .refused(let refusal) where refusal.step == TakePins.foreignKey:
      tell(reason(settings.pins.first?.text ?? "none", known: nil))
    case .refused(let refusal): tell("the registry of devices refuses the server's key: \(refusal.step)")
    case nil: tell("the registry of devices does not say whether phones know the server's key: try again")
    }
    throw ExitStatus.configuration.code
  }

  private static func reason(_ pin: String, known: [String]?) -> String {
    let published = known.map {
      $0.isEmpty ? " (none was published)" : " (but \($0.joined(separator: ", ")))"
    }
    return "TLS_CERT_PATH: paired phones were never told of its key, whose pin is \(pin)\(published ?? ""): "
      + "publish it by TLS_NEXT_KEY_PATH first (docs/devices.md, \"Changing the server's key\"), or set "
      + "PINS_FORCE=true and pair all phones anew"
  }
}
