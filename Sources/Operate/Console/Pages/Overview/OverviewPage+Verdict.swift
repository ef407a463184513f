/// Whether all is well, and if not what is wrong: the first line of the overview, and the checks that it is made of.
internal import Prompt
internal import System
internal import Time

extension OverviewPage {
  /// It is what somebody wants, and no fault.
  private var isDraining: Bool { checks.contains { $0.name == "draining" && $0.standing == .bad } }

  var standing: Standing {
    // Nobody has looked: that is not well.
    if checks.isEmpty { return .neutral }
    if checks.contains(where: { $0.standing == .bad && $0.name != "draining" }) { return .bad }
    if isDraining { return .doubtful }
    return endingCertificate != nil || checks.contains { $0.standing == .doubtful } ? .doubtful : .good
  }

  /// What is wrong, by its name; the worst where there is more.
  var verdict: String {
    switch standing {
    case .good: return "All is well"
    case .neutral: return "Not known yet"
    case .doubtful, .bad: break
    }
    if let check = wrong.first(where: { $0.name != "draining" }) { return Self.headline(check) }
    if isDraining { return "The gate is draining" }
    return endingCertificate.map(isOver) == true ? "A certificate’s time is over" : "A certificate ends soon"
  }

  private static func headline(_ check: HealthCheck) -> String {
    switch check.name {
    case "listening": "New players cannot connect"
    case "loops": "An event loop does not answer"
    case "key_store": "The key store cannot be written"
    case "registry": "The store of devices does not answer"
    case "game": "The game is away"
    case "certificate": "A certificate does not hold"
    case "disk": "The disk is short of room"
    default: "The check \(Wording.plain(check.name)) fails"
    }
  }

  /// What each of them says; else how many there are.
  var verdictDetail: String {
    if checks.isEmpty { return "No check has run yet" }
    let certificate = endingCertificate.map { certificate in
      "\(certificate.name): \(isOver(certificate) ? "over since" : "until") \(Wording.time(certificate.endsAt))"
    }
    if wrong.isEmpty {
      return certificate ?? Wording.count(checks.count, "check is ok", "checks are ok")
    }
    let said = wrong.map { "\(Wording.plain($0.name))\($0.detail.map { ": \($0)" } ?? "")" }
    return (said + [certificate].compactMap(\.self)).joined(separator: " · ")
  }

  /// No check fails for it before it is too late; nil where one does, and says which.
  private var endingCertificate: CertificateEnd? {
    let week: Int64 = 7 * 86_400_000
    if checks.contains(where: { $0.name == "certificate" && $0.standing == .bad }) { return nil }
    let first = certificates.min { $0.endsAt < $1.endsAt }
    return first.flatMap { $0.endsAt.milliseconds - now.milliseconds < week ? $0 : nil }
  }

  private func isOver(_ certificate: CertificateEnd) -> Bool { certificate.endsAt <= now }

  // MARK: Checks

  /// The worst first.
  private var wrong: [HealthCheck] {
    [Standing.bad, .doubtful].flatMap { standing in checks.filter { $0.standing == standing } }
  }

  /// Of those that are not ok alone.
  var checksTable: Table {
    Table(
      name: "checks", caption: "What a load balancer and the watchdog ask", hidesCaption: true,
      columns: [
        .init("check", "Check", isWhole: true), .init("state", "State", isMark: true),
        .init("detail", "Detail"),
      ],
      rows: wrong.map { check in
        [
          .text(Wording.plain(check.name)),
          .standing(check.standing, check.standing == .bad ? "failed" : "degraded"),
          .optional(sentence: check.detail),
        ]
      }, empty: "No check fails.")
  }

  /// The others in one line.
  var checksRest: String {
    if checks.isEmpty { return "No check has run yet." }
    let rest = checks.filter { check in !wrong.contains { $0.name == check.name } }
      .map { $0.name == "draining" ? "not draining" : Wording.plain($0.name) }
    return rest.isEmpty ? "No check is ok." : "Ok: \(rest.joined(separator: ", "))."
  }
}
