import Time
import Testing

@testable import Telemetry

/// A certificate that ends is told of 21 days before, and every day from then on.
@Suite struct CertificateWatchTests {
  private static let day: Int64 = 86_400_000
  private let start = UnixTime(milliseconds: 1_771_286_400_000)

  private func later(_ days: Double) -> UnixTime {
    UnixTime(milliseconds: start.milliseconds + Int64(days * Double(Self.day)))
  }

  private func certificate(
    _ role: WatchedCertificate.Role = .server, from: Double = -1, until: Double
  ) -> WatchedCertificate {
    WatchedCertificate(
      role: role, subject: "CN=\(role)", notBefore: later(from), notAfter: later(until))
  }

  private func watching(_ certificates: WatchedCertificate...) -> CertificateWatch {
    let watch = CertificateWatch(noticeDays: 21)
    watch.watch(certificates)
    return watch
  }

  private func standings(_ watch: CertificateWatch, _ now: UnixTime) -> [WatchedCertificate.Standing] {
    watch.due(now: now).map(\.standing)
  }

  @Test func theDayComes() {
    let watch = watching(certificate(until: 30))
    #expect(standings(watch, start).isEmpty)
    #expect(standings(watch, later(9)).isEmpty)
    // The first second with less than 21 whole days.
    #expect(standings(watch, UnixTime(milliseconds: later(9).milliseconds + 1000)) == [.ends(days: 20)])
  }

  @Test func onceADay() {
    let watch = watching(certificate(until: 10))
    var told = 0
    for hour in 0..<72 { told += watch.due(now: later(Double(hour) / 24)).count }
    #expect(told == 3)
    #expect(standings(watch, later(3)) == [.ends(days: 7)])
  }

  @Test func itsLastSecondIsPartOfIt() {
    let watch = watching(certificate(until: 1))
    #expect(standings(watch, later(1)) == [.ends(days: 0)])
    #expect(standings(watch, UnixTime(milliseconds: later(1).milliseconds + 1000)) == [.expired])
    #expect(standings(watch, later(1.5)).isEmpty)
    #expect(standings(watch, later(2.5)) == [.expired])
  }

  @Test func notYet() {
    let watch = watching(certificate(from: 2, until: 90))
    #expect(standings(watch, start) == [.notYetValid])
    #expect(standings(watch, later(3)).isEmpty)
  }

  @Test func eachForItself() {
    let watch = watching(certificate(until: 90), certificate(.clientCA, until: 5))
    #expect(watch.due(now: start).map(\.certificate.role) == [.clientCA])
    #expect(watch.due(now: later(70)).map(\.certificate.role) == [.server, .clientCA])
  }

  @Test func aReloadSaysItAnew() {
    let watch = watching(certificate(until: 5))
    #expect(standings(watch, start) == [.ends(days: 5)])
    watch.watch([certificate(until: 6)])
    #expect(standings(watch, start) == [.ends(days: 6)])
    watch.watch([certificate(until: 60)])
    #expect(standings(watch, start).isEmpty)
  }

  @Test func aClockSetBackDoesNotSilenceIt() {
    let watch = watching(certificate(until: 5))
    #expect(standings(watch, start).count == 1)
    #expect(standings(watch, later(-3)).isEmpty == false)
    // Set back before its time had come: it comes again.
    let other = watching(certificate(from: -60, until: 10))
    #expect(standings(other, start) == [.ends(days: 10)])
    #expect(standings(other, later(-40)).isEmpty)
    #expect(standings(other, later(0.1)) == [.ends(days: 9)])
  }
}
