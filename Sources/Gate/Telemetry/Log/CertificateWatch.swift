/// Which of the operator's certificates end soon, and when that is to be said: 21 days before, and daily from then on.
internal import Synchronization
package import Time

/// A certificate in use, as far as its dates go.
package struct WatchedCertificate: Equatable, Sendable {
  package enum Role: String, CaseIterable, Sendable {
    case server
    case clientCA = "client_ca"
  }

  package enum Standing: Equatable, Sendable {
    case good
    case notYetValid
    case ends(days: Int64)
    case expired
  }

  package let role: Role
  package let subject: String
  package let notBefore: UnixTime
  package let notAfter: UnixTime

  package init(role: Role, subject: String, notBefore: UnixTime, notAfter: UnixTime) {
    self.role = role
    self.subject = subject
    self.notBefore = notBefore
    self.notAfter = notAfter
  }

  package func standing(at now: UnixTime, noticeDays: Int64) -> Standing {
    // The period includes its last second (RFC 5280 §4.1.2.5).
    if now.seconds > notAfter.seconds { return .expired }
    if now < notBefore { return .notYetValid }
    let days = (notAfter.seconds - now.seconds) / CertificateWatch.daySeconds
    return days < noticeDays ? .ends(days: days) : .good
  }
}

/// Asked every second by the housekeeper, and at once after a reload. It goes by the wall clock, as certificates do.
package final class CertificateWatch: Sendable {
  package struct Notice: Equatable, Sendable {
    package let certificate: WatchedCertificate
    package let standing: WatchedCertificate.Standing
  }

  fileprivate struct Entry {
    let certificate: WatchedCertificate
    var standing = WatchedCertificate.Standing.good
    var toldAt: UnixTime?
  }

  static let daySeconds: Int64 = 86_400

  private let noticeDays: Int64
  private let entries = Mutex<[Entry]>([])

  package init(noticeDays: Int64) {
    self.noticeDays = noticeDays
  }

  /// From now on these are in use; nothing has been said of them yet.
  package func watch(_ certificates: [WatchedCertificate]) {
    entries.withLock { entries in entries = certificates.map { Entry(certificate: $0) } }
  }

  /// Those in use, in their order.
  package var watched: [WatchedCertificate] { entries.withLock { $0.map(\.certificate) } }

  /// Those that are of no use at this time.
  package func useless(at now: UnixTime) -> [Notice] {
    watched.compactMap { certificate in
      let standing = certificate.standing(at: now, noticeDays: 0)
      return standing == .good ? nil : Notice(certificate: certificate, standing: standing)
    }
  }

  /// By role, when the first of its certificates ends.
  package var ends: [(role: WatchedCertificate.Role, end: UnixTime)] {
    let certificates = watched
    return WatchedCertificate.Role.allCases.compactMap { role in
      certificates.filter { $0.role == role }.map(\.notAfter).min().map { (role, $0) }
    }
  }

  /// What is to be said now.
  package func due(now: UnixTime) -> [Notice] {
    entries.withLock { entries in
      var notices: [Notice] = []
      for index in entries.indices {
        let standing = entries[index].certificate.standing(at: now, noticeDays: noticeDays)
        let turned = standing.word != entries[index].standing.word
        entries[index].standing = standing
        if standing == .good {
          entries[index].toldAt = nil
        } else if turned || entries[index].isDue(at: now) {
          entries[index].toldAt = now
          notices.append(Notice(certificate: entries[index].certificate, standing: standing))
        }
      }
      return notices
    }
  }
}

extension CertificateWatch.Entry {
  /// Also when the clock was set back: what was said then is no longer of yesterday.
  fileprivate func isDue(at now: UnixTime) -> Bool {
    guard let toldAt else { return true }
    return abs(now.seconds - toldAt.seconds) >= CertificateWatch.daySeconds
  }
}

extension WatchedCertificate.Standing {
  /// The event in the log.
  package var word: String {
    switch self {
    case .good: "certificate_good"
    case .notYetValid: "certificate_not_yet_valid"
    case .ends: "certificate_expires"
    case .expired: "certificate_expired"
    }
  }
}
