/// Where addresses are, by one or two files in MaxMind's format.
package import Addresses

/// Countries and time zones come from the one, networks from the other.
package final class GeoDatabase: PlaceDirectory {
  private let countries: MaxMindFile?
  private let networks: MaxMindFile?

  package init(countries: MaxMindFile?, networks: MaxMindFile?) {
    self.countries = countries
    self.networks = networks
  }

  package func place(of address: IPAddress) -> Place {
    var place = Place.unknown
    if let countries {
      let found = countries.values(of: address, [["country", "iso_code"], ["location", "time_zone"]])
      if case .text(let code)? = found[0] { place.country = CountryCode(code) }
      // Only files of cities have it.
      if case .text(let zone)? = found[1] { place.timeZone = zone }
    }
    if case .number(let number)? = networks?.values(of: address, [["autonomous_system_number"]])[0] {
      place.network = UInt32(exactly: number)
    }
    return place
  }
}
