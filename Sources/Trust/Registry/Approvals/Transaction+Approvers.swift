/// Whose phones a request is put to, and who of them may decide it.
internal import ApprovalPolicy
internal import DeviceWire
internal import PortcullisProtocol

/// How many requests may be open.
enum ApprovalLimits {
  static let openOfRequester = 2
  /// Of one service, for whomever it says that it asks: its own words make it no more.
  static let openOfServiceForDevice = 2
  /// Of all together; the first of a service has a place all the same, so that others keep none of them out.
  static let openForDevice = 5
  /// A request that so many can decide is put to no more.
  static let devices = 64
  /// Subjects that are looked at where approvers are patterns: a request must not keep the registry for long.
  static let subjects = 512
  /// Of one device; then the request is denied.
  static let wrongCodes = 3
  static let idempotency: Int64 = 86_400
  static let shown = 1000
  /// So many reports of one service by one subject within `reportsCount` bar it.
  static let reportsThatBar = 3
  static let reportsCount: Int64 = 30 * 86_400
  /// How long an ended request keeps its texts, in seconds.
  static let whole: Int64 = 86_400
}

extension DeviceRecord {
  /// Whether its vote counts; else it may look only.
  func canDecide(_ terms: ApprovalTerms) -> Bool {
    state == .active && keys.approval != nil && voteLevel >= terms.level
      && verification >= terms.userVerification
  }

  /// Of the key that votes: where only the device key was attested in hardware, the app that has it vouches for the other.
  var voteLevel: Level {
    verification == .hardware ? level : min(level, .appAttested)
  }

  /// Whether the request may be put to it.
  /// - Parameter requesters: the names of whoever asked.
  func isApprover(_ terms: ApprovalTerms, of subject: Subject?, requesters: [String]) -> Bool {
    guard state == .active, let own = self.subject else { return false }
    return own.isApprover(terms, of: subject, requesters: requesters)
  }
}

extension Subject {
  func isApprover(_ terms: ApprovalTerms, of subject: Subject?, requesters: [String]) -> Bool {
    terms.approvers.admit(name, subject: subject?.name) && !isBarred(terms, requesters)
  }

  /// Whoever asks does not decide, however his name is written.
  func isBarred(_ terms: ApprovalTerms, _ requesters: [String]) -> Bool {
    terms.barsRequester && requesters.contains(where: name.looksLike)
  }
}

extension Summary.Requester {
  /// By which names whoever asked is not to decide himself: what the service calls him; of a user of the host his number, and
  /// the name of his account.
  func names(of user: UInt32?) -> [String] { [id] + (user == nil ? [] : [name].compactMap(\.self)) }
}

extension ApprovalRecord {
  var requesters: [String] {
    // The gate has written it.
    guard user != nil, let summary = try? Summary(canonical: summary.span) else { return [requester] }
    return summary.requester.names(of: user)
  }
}

/// What has been found on the way through those who may approve.
private struct FoundDevices {
  /// Those that may decide and have room.
  var deciding: [DeviceRecord] = []
  /// Those that may look only.
  var looking: [DeviceRecord] = []
  /// Whose devices could decide and have no room.
  var busy: [Subject] = []
  var crowd: String?
  var bar: String?
}

extension ApprovalTerms {
  /// Whether so many devices are enough.
  func isQuorum(_ subjects: [Subject]) -> Bool { count(subjects) >= quorum }

  /// Devices, or subjects where they have to be distinct.
  func count(_ subjects: [Subject]) -> Int { needsDistinctSubjects ? Set(subjects).count : subjects.count }
}

extension Transaction {
  /// Whom the request is put to: devices of approvers that have room for it.
  func devices(
    for request: ApprovalRequest, _ terms: ApprovalTerms, by asker: Asker, requesters: [String]
  ) throws(CallFailure) -> [DeviceRecord] {
    var found = FoundDevices()
    let names = try approvers(for: request, terms, requesters)
    for name in names where found.deciding.count < ApprovalLimits.devices {
      if let step = try bar(of: request.requester.id, asker.service, for: name) {
        found.bar = step
        continue
      }
      let devices = try store.activeDevices(of: name)
      for device in devices {
        if !device.canDecide(terms) {
          if found.looking.count < ApprovalLimits.devices { found.looking.append(device) }
        } else if let step = try crowd(on: device, request, asker) {
          found.crowd = step
          found.busy.append(name)
        } else {
          found.deciding.append(device)
        }
      }
    }
    let free = found.deciding.compactMap(\.subject)
    guard terms.isQuorum(free) else {
      if let step = found.crowd, terms.isQuorum(free + found.busy) { throw .refused(.tooManyOpen, step) }
      if let step = found.bar { throw .refused(.requesterBarred, step) }
      throw .refused(.noDevice, try lack(for: request, terms, found, isAnyoneLeft: !names.isEmpty))
    }
    for device in found.looking where try crowd(on: device, request, asker) == nil {
      found.deciding.append(device)
    }
    return found.deciding
  }

  /// Which rule keeps the request from the device, as it has enough to do; nil where none does.
  private func crowd(
    on device: DeviceRecord, _ request: ApprovalRequest, _ asker: Asker
  ) throws(CallFailure) -> String? {
    // Who asks at the host is known to the kernel, and has a share of his own.
    let requester = asker.service == nil ? request.requester.id : nil
    let (own, all) = (
      try store.countOpen(for: device.id, of: asker.service, requester: requester),
      try store.countOpen(for: device.id)
    )
    if own >= ApprovalLimits.openOfServiceForDevice { return "approval_open_of_service" }
    return own > 0 && all >= ApprovalLimits.openForDevice ? "approval_open_for_device" : nil
  }

  /// Which bar keeps whoever asks from the subject; nil where none does.
  private func bar(
    of requester: String, _ service: ServiceID?, for subject: Subject
  ) throws(CallFailure) -> String? {
    let bars = try store.bars(of: service, for: subject)
    if bars.contains(where: { $0.requester == nil }) { return "approval_bar_of_service" }
    return bars.contains { $0.requester?.looksLike(requester) == true } ? "approval_bar" : nil
  }

  /// Why nobody could approve it, as the log and a service hear it.
  private func lack(
    for request: ApprovalRequest, _ terms: ApprovalTerms, _ found: FoundDevices, isAnyoneLeft: Bool
  ) throws(CallFailure) -> String {
    if !isAnyoneLeft {
      var anybody = terms
      anybody.barsRequester = false
      if try !approvers(for: request, anybody, []).isEmpty { return "approval_requester_alone" }
    }
    if !found.looking.isEmpty { return "approval_devices_level" }
    return found.deciding.isEmpty ? "approval_devices" : "approval_devices_quorum"
  }

  /// Names of those who may approve; where patterns name them, of those that have devices.
  private func approvers(
    for request: ApprovalRequest, _ terms: ApprovalTerms, _ requesters: [String]
  ) throws(CallFailure) -> [Subject] {
    let names: [Subject]
    if !terms.approvers.areStated {
      names = [request.subject].compactMap(\.self)
    } else if let candidates = terms.approvers.candidates {
      names = candidates.compactMap { Subject($0) }
    } else {
      names = try subjects(of: terms.approvers)
    }
    return names.filter { $0.isApprover(terms, of: request.subject, requesters: requesters) }
  }

  /// In the order of their names.
  private func subjects(of approvers: Approvers) throws(CallFailure) -> [Subject] {
    var found: Set<Subject> = []
    var looked = 0
    for pattern in approvers.narrowest {
      var last: Subject?
      while looked < ApprovalLimits.subjects {
        let page = try store.subjects(beginningWith: pattern.prefix, after: last, limit: 256)
        found.formUnion(page.filter { pattern.matches(Array($0.name.utf8)) })
        looked += page.count
        guard page.count == 256 else { break }
        last = page.last
      }
    }
    return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
