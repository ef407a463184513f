/// MaxMind's published test databases, good ones and those that have harmed readers, where `make maxmind-data` has put them;
/// where they are not, the tests say so, and fail in CI.
import Addresses
import Foundation
import GeoDatabase
import Kit
import Obligation
import Testing

@Suite struct PublishedDatabaseTests {
  private static let folder = Repository.folder.appending(path: ".build-conformance/maxmind")

  /// Nil where the folder is not there.
  private static func path(_ name: String) -> String? {
    let path = folder.appending(path: name).path()
    if FileManager.default.fileExists(atPath: path) { return path }
    print("no \(name) at \(folder.path()): nothing to test here (make maxmind-data)")
    if Obligation.runs(false, "maxmind") { Issue.record("no \(name)") }
    return nil
  }

  @Test(
    arguments: [
      ("81.2.69.142", "GB", "Europe/London"), ("::ffff:81.2.69.142", "GB", "Europe/London"),
      ("89.160.20.112", "SE", "Europe/Stockholm"), ("2001:218::1", "JP", "Asia/Tokyo"), ("10.0.0.1", "", ""),
    ])
  func city(address: String, country: String, zone: String) throws {
    for file in ["GeoIP2-City-Test.mmdb", "GeoLite2-City-Test.mmdb", "GeoIP2-Country-Test.mmdb"] {
      guard let path = Self.path("test-data/\(file)") else { return }
      let database = GeoDatabase(countries: try MaxMindFile.open(path), networks: nil)
      let place = database.place(of: try #require(IPAddress(address)))
      #expect(place.country == CountryCode(country), "\(file)")
      let known = file.contains("City") && !zone.isEmpty
      #expect(place.timeZone == (known ? zone : nil), "\(file)")
    }
  }

  @Test(
    arguments: [("1.128.0.1", 1221), ("12.81.92.1", 7018), ("2600:6000::1", 237), ("10.0.0.1", nil)]
      as [(String, UInt32?)])
  func network(address: String, number: UInt32?) throws {
    guard let path = Self.path("test-data/GeoLite2-ASN-Test.mmdb") else { return }
    let database = GeoDatabase(countries: nil, networks: try MaxMindFile.open(path))
    #expect(database.place(of: try #require(IPAddress(address))) == Place(network: number))
  }

  /// Every file that there is: opened or refused, and whatever is asked, the answer comes.
  @Test func everyFile() throws {
    guard Self.path("bad-data") != nil else { return }
    let files = FileManager.default.enumerator(at: Self.folder, includingPropertiesForKeys: nil)
    var opened = 0
    var refused = 0
    while let url = files?.nextObject() as? URL {
      guard url.pathExtension == "mmdb" else { continue }
      guard let file = try? MaxMindFile.open(url.path()) else {
        refused += 1
        continue
      }
      opened += 1
      let database = GeoDatabase(countries: file, networks: file)
      for number in 0..<4096 {
        _ = database.place(of: IPAddress(v4: UInt32(number) << 20))
        _ = database.place(of: IPAddress(v6: UInt64(number) << 52, 1))
      }
    }
    #expect(opened >= 40 && refused >= 5, "\(opened) opened, \(refused) refused")
  }
}
