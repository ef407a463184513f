/// `portcullis pins`: the keys that phones know the gate by (docs/running.md, "Commands").
import ArgumentParser
import Bytes
import Configuration
import Crypto
import JSON
import Prompt
import System

struct Pins: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the pins of the server's keys, and make the next key.",
    discussion: """
      A pin is SHA-256 of a key's SubjectPublicKeyInfo, in base64url. Paired phones know the pin in service and the \
      next one, so a certificate may be renewed for either key, and for no other. Pins are of TLS_CERT_PATH and \
      TLS_NEXT_KEY_PATH as they are now.

      With --make-next shows the next pin alone. Where the file of TLS_NEXT_KEY_PATH is missing, a P-256 key is made and \
      written to it, with mode 0600. Reload the gate then, so that phones hear of it before a certificate with this key is \
      in service.
      """)

  @OptionGroup var settings: SettingsFile
  @Flag(help: "Make the next key if there is none, and show its pin.") var makeNext = false
  @Flag(help: "One JSON array.") var json = false

  func run() throws {
    let files = try settings.values().files
    let pins = makeNext ? [("", try next(files))] : try all(files)
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginArray()
      for (_, pin) in pins { writer.value(pin.text) }
      writer.endArray()
      try output.line(json: writer)
    } else {
      for (name, pin) in pins { try output.line(name.isEmpty ? pin.text : "\(name)  \(pin.text)") }
    }
    try output.flush()
  }

  private func all(_ files: GateFiles) throws -> [(String, PublicKeyPin)] {
    guard let path = files.certificatePath else {
      complain("TLS_CERT_PATH is not set: a certificate that is made at each start has no pin to know it by")
      throw ExitStatus.configuration
    }
    let service = [("service", try ServerPins.inService(path))]
    return service + (try files.nextKeyPath.map { [("next", try ServerPins.next($0))] } ?? [])
  }

  private func next(_ files: GateFiles) throws -> PublicKeyPin {
    guard let path = files.nextKeyPath else {
      complain("TLS_NEXT_KEY_PATH is not set: name the file that the next key is in, or is to be made in")
      throw ExitStatus.configuration
    }
    if !WholeFile.exists(path) { try ServerPins.make(path) }
    return try ServerPins.next(path)
  }
}

/// The pins of keys in files.
enum ServerPins {
  static func inService(_ path: String) throws -> PublicKeyPin {
    try reading("TLS_CERT_PATH", path, "name a certificate in PEM") {
      let text = try SystemFiles().contents(of: path, limit: 1 << 20)
      return try PublicKeyPin.ofCertificate(inPEM: text.span)
    }
  }

  static func next(_ path: String) throws -> PublicKeyPin {
    try reading("TLS_NEXT_KEY_PATH", path, "name the PEM file of a key, without a pass phrase") {
      try PublicKeyPin.ofKey(try PrivateKeyText.read(path, limit: 1 << 20))
    }
  }

  static func make(_ path: String) throws {
    do {
      var text = Array(try SigningKey.generate(.p256).pem().utf8)
      defer { wipe(&text) }
      try WholeFile.write(text, to: path, mode: 0o600, overwriting: false)
    } catch {
      complain("TLS_NEXT_KEY_PATH=\(PrintableText.field(path)) cannot be written: \(error)")
      throw ExitStatus.ioError
    }
  }

  private static func reading(
    _ setting: String, _ path: String, _ remedy: String, _ read: () throws -> PublicKeyPin
  ) throws -> PublicKeyPin {
    do {
      return try read()
    } catch {
      complain("\(setting)=\(PrintableText.field(path)): \(error); \(remedy)")
      throw ExitStatus.configuration
    }
  }
}
