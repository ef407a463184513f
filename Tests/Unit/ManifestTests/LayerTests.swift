/// The arrows between modules: none points upwards, and the manifest's rows are what the sources import.
import Foundation
import Kit
import Testing

@Suite struct LayerTests {
  private struct Module {
    let name: String
    let layer: String
    let dependencies: Set<String>
  }

  private let manifest: String
  private let layers: [String]
  private let folders: [String: String]
  private let modules: [Module]

  init() throws {
    let manifest = try Repository.text("Package.swift")
    self.manifest = manifest
    let cases = manifest.matches(of: /case (\w+) = "(\w+)"/)
    layers = cases.map { String($0.1) }
    folders = Dictionary(uniqueKeysWithValues: cases.map { (String($0.1), String($0.2)) })
    modules = manifest.matches(of: /Module\(\s*"([\w-]+)", in: \.(\w+)(?:,\s*\[([^\]]*)\])?/).map { row in
      let names = (row.3 ?? "").matches(of: /"([\w-]+)"/).map { String($0.1) }
      return Module(name: String(row.1), layer: String(row.2), dependencies: Set(names))
    }
  }

  private func rank(_ layer: String) throws -> Int { try #require(layers.firstIndex(of: layer)) }

  /// `Sources/<layer>/<module>`.
  private func folder(of module: Module) throws -> URL {
    let layer = try #require(folders[module.layer])
    let folder = Repository.folder.appending(path: "Sources/\(layer)/\(module.name)")
    try #require(
      FileManager.default.fileExists(atPath: folder.path()),
      "\(module.name) lies in the folder of another layer than \(module.layer)")
    return folder
  }

  private func imports(in folder: URL) throws -> Set<String> {
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var found: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for line in text.matches(of: /(?m)^(?:@?\w+ )*import (\w+)$/) { found.insert(String(line.1)) }
    }
    return found
  }

  /// So that a changed form of the rows does not leave the others without anything to look at.
  @Test func rowsAreFound() throws {
    #expect(layers == ["c", "base", "wire", "trust", "host", "gate", "operate", "phone", "program"])
    #expect(modules.count == manifest.matches(of: /\n  Module\(/).count)
    #expect(modules.count > 30 && Set(modules.map(\.name)).count == modules.count)
    #expect(Set(modules.map(\.layer)) == Set(layers))
  }

  /// The manifest for older toolchains has the products of the whole one, each of their modules and nothing else, with the same
  /// arrows and platforms.
  @Test func theOlderManifestHasTheSameLibraries() throws {
    let older = try Repository.text("Package@swift-6.0.swift")
    func lines(_ text: String, _ part: Regex<(Substring, Substring)>) -> [String] {
      text.matches(of: part).map { String($0.1) }
    }
    let products = /\.library\(name: "(\w+)", targets/
    let names = lines(manifest, products)
    #expect(!names.isEmpty && lines(older, products) == names)
    let platforms = /platforms: \[([^\n]*)\],\n/
    #expect(lines(older, platforms) == lines(manifest, platforms))
    let targets = older.matches(of: /name: "(\w+)", dependencies: \[([^\]]*)\],\s+path: "([^"]+)"/)
    #expect(Set(targets.map { String($0.1) }) == Set(names))
    for target in targets {
      let module = try #require(modules.first { $0.name == target.1 })
      let dependencies = target.2.matches(of: /"(\w+)"/).map { String($0.1) }
      #expect(Set(dependencies) == module.dependencies, "\(target.1)")
      let place = try folder(of: module).path()
      #expect(place.hasSuffix("/\(target.3)"), "\(target.1)")
    }
  }

  @Test func arrowsPointDownwards() throws {
    for module in modules {
      for dependency in modules where module.dependencies.contains(dependency.name) {
        let isDownwards = try rank(dependency.layer) <= rank(module.layer)
        #expect(isDownwards, "\(module.name) (\(module.layer)) uses \(dependency.name) (\(dependency.layer))")
      }
    }
  }

  /// The package manager lets a module import whatever happens to have been built before it.
  @Test func rowsAreWhatIsImported() throws {
    let ours = Set(modules.map(\.name)).union(["ArgumentParser", "Logging"])
    for module in modules {
      let imported = try imports(in: folder(of: module)).intersection(ours).subtracting([module.name])
      #expect(module.dependencies == imported, "\(module.name)")
    }
  }

  /// Who is given the time and bytes needs neither threads nor files. Of Trust the stores alone do.
  @Test func whatIsPureAsksNothingOfTheSystem() {
    let stores: Set<String> = ["KeyStore", "Registry"]
    let pure = modules.filter { $0.layer == "wire" || $0.layer == "trust" && !stores.contains($0.name) }
    #expect(pure.count > 12)
    for module in pure { #expect(!module.dependencies.contains("System"), "\(module.name)") }
    #expect(modules.first { $0.name == "Time" }?.dependencies == ["CLinux"])
  }
}
