/// `portcullis audit verify`: the chain of the running gate, or of an export without any (docs/devices-operating.md, "The audit").
import ArgumentParser
import Bytes
import Configuration
import Crypto
import JSON
import Prompt
import Registry
import System

struct AuditVerify: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Follow the chain from its first row to its last.",
    discussion: """
      With --head, also looks whether the chain leads through a head that the gate has signed before: the line \
      audit_head of its log, kept elsewhere, is what finds out that the end was cut off. With --export, all of it is read \
      from a file of audit export, and no gate is asked; that the head's key (kid) is the gate's, its saved \
      /.well-known/jwks.json says, or an earlier head. Ends with status 65 when the chain is broken.
      """)

  @OptionGroup var settings: SettingsFile
  @Option(help: "A file with a line audit_head of the log; the last one counts.", completion: .file())
  var head: String?
  @Option(help: "A file that audit export has written, from its first row on.", completion: .file())
  var export: String?
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let line = try head.map(headLine)
    let result: JSONValue
    if let export {
      result = try AuditFile(path: export).verify(through: try line.map(Self.head))
    } else {
      result = try RegistryAccess.order(
        .auditVerify, [("head", line.map(JSONValue.string))], try settings.values())
    }
    try RegistryText.show(result, json: json)
    if result.object?["valid"]?.boolean == false { throw ExitStatus.dataError }
  }

  private static func head(_ line: String) throws -> AuditHead {
    guard let head = AuditHead(logLine: Array(line.utf8)), head.signer != nil else {
      complain(
        "the line audit_head has not the members seq, hash, at, kid, signature, server_id and key: take one that was not "
          + "cut, of a gate of this version")
      throw ExitStatus.dataError
    }
    return head
  }

  private func headLine(_ path: String) throws -> String {
    let shown = PrintableText.field(path)
    let bytes: [UInt8]
    do {
      bytes = try SystemFiles().contents(of: path, limit: Self.largestLog)
    } catch {
      complain("\(shown) cannot be read: \(error); correct the path or the file's owner and mode")
      throw ExitStatus.ioError
    }
    guard bytes.count <= Self.largestLog else {
      complain(
        "\(shown) is larger than \(Self.largestLog >> 20) MiB, and the last line counts: name a file with that line "
          + "alone (grep audit_head LOG | tail -n 1)")
      throw ExitStatus.dataError
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let line = text.split(separator: "\n").last(where: { $0.contains("audit_head") }) else {
      complain(
        "\(shown) has no line audit_head: name a log that the gate has written for an hour, or to its stop")
      throw ExitStatus.dataError
    }
    return String(line)
  }

  private static let largestLog = 64 << 20
}

/// An export, read twice: for where it begins, and from there on.
private struct AuditFile {
  /// Of a row, more than any has.
  private static let longestLine = 1 << 20

  let path: String

  func verify(through head: AuditHead?) throws -> JSONValue {
    let report = try judge(head)
    guard let value = try? JSONValue(parsing: report.json.span, depthLimit: 4) else {
      throw ExitStatus.software
    }
    return value
  }

  private func judge(_ head: AuditHead?) throws -> AuditReport {
    if let head, !head.isSigned(P256Verifier()) { return AuditReport(.signature, nil, head: head) }
    var beginning = AuditExportBeginning()
    _ = try eachRow { row in
      beginning.look(at: row)
      return nil
    }
    var verifier = beginning.verifier(through: head?.end)
    var fault = try eachRow { row in
      do throws(AuditVerifier.Fault) {
        try verifier.follow(exported: row)
        return nil
      } catch {
        return error
      }
    }
    if fault == nil {
      do throws(AuditVerifier.Fault) { try verifier.finish() } catch { fault = error }
    }
    return AuditReport(fault, verifier, head: head)
  }

  /// - Returns: what `body` has found wrong with a row; the others are not read then.
  private func eachRow(_ body: (AuditRow) -> AuditVerifier.Fault?) throws -> AuditVerifier.Fault? {
    let shown = PrintableText.field(path)
    var (rest, number): ([UInt8], Int) = ([], 0)
    var chunk = [UInt8](repeating: 0, count: 1 << 18)
    do {
      let file = try OwnedDescriptor.open(reading: path)
      while true {
        let count = try file.read(into: &chunk)
        rest += count == 0 && !rest.isEmpty ? [0x0A] : chunk.prefix(count)
        let end = rest.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        for line in rest[..<end].split(separator: 0x0A) {
          number += 1
          guard let row = AuditRow(exported: Array(line)) else { throw NoRow() }
          if let fault = body(row) { return fault }
        }
        rest = Array(rest[end...])
        guard rest.count <= Self.longestLine else { throw NoRow() }
        if count == 0 { return nil }
      }
    } catch let error as SystemError {
      complain("--export \(shown) cannot be read: \(error); correct the path or the file's owner and mode")
      throw ExitStatus.ioError
    } catch is NoRow {
      complain(
        "--export \(shown), line \(number): no row of an export; name a file that audit export has written")
      throw ExitStatus.dataError
    }
  }

  private struct NoRow: Error {}
}
