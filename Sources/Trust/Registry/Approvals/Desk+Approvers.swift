/// Whose phones a request is put to, and who of them may decide it.
internal import ApprovalPolicy
internal import DeviceWire
internal import PortcullisProtocol

/// How many requests may be open.
enum ApprovalLimits {
  static let openOfRequester = 2
  static let openForDevice = 5
  /// A request that so many can decide is put to no more.
  static let devices = 64
  /// Subjects that are looked at where approvers are patterns: a request must not keep the registry for long.
  static let subjects = 512
  /// Of one device; then the request is denied.
  static let wrongCodes = 3
  static let idempotency: Int64 = 86_400
  static let shown = 1000
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
    terms.approvers.admit(name, subject: subject?.name)
      && !(terms.barsRequester && requesters.contains(where: name.isSameText))
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

extension ApprovalTerms {
  /// Whether so many devices are enough.
  func isQuorum(_ subjects: [Subject]) -> Bool { count(subjects) >= quorum }

  /// Devices, or subjects where they have to be distinct.
  func count(_ subjects: [Subject]) -> Int { needsDistinctSubjects ? Set(subjects).count : subjects.count }
}

extension Desk {
  /// Whom the request is put to: devices of approvers that do not have too many open ones already.
  func devices(
    for request: ApprovalRequest, _ terms: ApprovalTerms, service: ServiceID?, requesters: [String]
  ) throws(CallFailure) -> [DeviceRecord] {
    var deciding: [DeviceRecord] = []
    var looking: [DeviceRecord] = []
    var busy: [Subject] = []
    var isBarred = false
    for name in try approvers(for: request, terms, requesters) where deciding.count < ApprovalLimits.devices {
      let found = try storing { (store) throws(StoreFailure) in
        try store.isBarred(request.requester.id, of: service, for: name)
          ? nil : try store.activeDevices(of: name)
      }
      guard let found else {
        isBarred = true
        continue
      }
      for device in found {
        let open = try storing { (store) throws(StoreFailure) in try store.countOpen(for: device.id) }
        if open >= ApprovalLimits.openForDevice {
          if device.canDecide(terms) { busy.append(name) }
        } else if device.canDecide(terms) {
          deciding.append(device)
        } else if looking.count < ApprovalLimits.devices {
          looking.append(device)
        }
      }
    }
    let free = deciding.compactMap(\.subject)
    guard terms.isQuorum(free) else {
      if terms.isQuorum(free + busy) { throw .refused(.tooManyOpen, "approval_open_for_device") }
      if isBarred { throw .refused(.requesterBarred, "approval_bar") }
      throw .refused(.noDevice, "approval_devices")
    }
    return deciding + looking
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
        let page = try storing { (store) throws(StoreFailure) in
          try store.subjects(beginningWith: pattern.prefix, after: last, limit: 256)
        }
        found.formUnion(page.filter { pattern.matches(Array($0.name.utf8)) })
        looked += page.count
        guard page.count == 256 else { break }
        last = page.last
      }
    }
    return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
