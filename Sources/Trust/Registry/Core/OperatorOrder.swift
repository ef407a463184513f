/// From an operator's order, a verb with arguments, to the call that does it.
package import JSON

package enum OperatorOrder {
  /// - Throws: the argument that is missing, too many, or of no use.
  package static func call(
    _ verb: OperatorVerb, _ arguments: JSONObject
  ) throws(FormError) -> any RegistryCall {
    switch verb {
    case .devicesList: try ListDevices(OrderArguments(arguments, "subject", "state", "after", "limit"))
    case .devicesShow: ShowDevice(id: try DeviceOrders.id(OrderArguments(arguments, "id")))
    case .devicesBrowse: try BrowseDevices(arguments)
    case .devicesNames: try NameDevices(arguments)
    case .devicesLook: LookAtDevice(id: try DeviceOrders.id(OrderArguments(arguments, "id")))
    case .devicesConfirm: try ConfirmDevice(OrderArguments(arguments, "id", "subject"))
    case .devicesAssign: try AssignDevice(OrderArguments(arguments, "id", "subject"))
    case .devicesRename: try RenameDevice(OrderArguments(arguments, "id", "name"))
    case .devicesExcept: try ExceptDevice(OrderArguments(arguments, "id", "until", "reason", "lacks"))
    case .devicesRevoke: RevokeDevice(id: try DeviceOrders.id(OrderArguments(arguments, "id")))
    case .devicesEnd: try EndForgotten(OrderArguments(arguments, "id", "subject"))
    case .devicesForget: try ForgetDevices(OrderArguments(arguments, "id", "subject"))
    case .devicesUnlock: try UnlockSubject(OrderArguments(arguments, "subject"))
    case .devicesRotateTokenKeys: try RotateTokenKeys(OrderArguments(arguments, "now"))
    case .devicesBackup: try BackUp(OrderArguments(arguments, "name"))
    case .pairOpen: try PairingOrders.open(OrderArguments(arguments, "subject", "name"))
    case .pairStatus: try PairingOrders.status(OrderArguments(arguments, "pairing_id", "wait"))
    case .pairConfirm: try PairingOrders.confirm(OrderArguments(arguments, "pairing_id", "sas"))
    case .pairBrowse: try BrowsePairings(OrderArguments(arguments))
    case .pairBurn: BurnPairing(try PairingOrders.id(OrderArguments(arguments, "pairing_id")))
    case .servicesList: try ListServices(OrderArguments(arguments))
    case .servicesAdd: try AddService(arguments)
    case .servicesRotate: RotateService(name: try ServiceOrders.name(OrderArguments(arguments, "name")))
    case .servicesRevoke: RevokeService(name: try ServiceOrders.name(OrderArguments(arguments, "name")))
    case .approvalsRequest: RequestApprovalOfUser(request: try ApprovalOrders.request(arguments))
    case .approvalsList: try ApprovalOrders.list(OrderArguments(arguments, "state"))
    case .approvalsShow: try ApprovalOrder(.show, OrderArguments(arguments, "id"))
    case .approvalsBrowse: try BrowseApprovals(arguments)
    case .approvalsLook: LookAtApproval(approval: try ApprovalOrders.id(OrderArguments(arguments, "id")))
    case .approvalsApprove: try ApprovalOrder(.approve, OrderArguments(arguments, "id"))
    case .approvalsDeny: try ApprovalOrder(.deny, OrderArguments(arguments, "id"))
    case .approvalsCancel: try ApprovalOrder(.cancel, OrderArguments(arguments, "id"))
    case .barsList: try ListBars(OrderArguments(arguments))
    case .barsLift: try LiftBar(arguments)
    case .auditList: try ReadAudit(OrderArguments(arguments, "after", "limit"), as: .list)
    case .auditExport: try ReadAudit(OrderArguments(arguments, "after", "limit"), as: .export)
    case .auditSearch: try SearchAudit(arguments)
    case .auditVerify: try VerifyAudit(OrderArguments(arguments, "head"))
    case .auditPrune: PruneAudit(before: try OrderArguments(arguments, "before").integer("before"))
    }
  }
}

/// What an order states, by name. One that the verb does not have might be meant to narrow it down, and is refused.
package struct OrderArguments {
  private let object: JSONObject

  package init(_ object: JSONObject, _ known: String...) throws(FormError) {
    for member in object.members where !known.contains(member.name) { throw FormError(member.name) }
    self.object = object
  }

  package func text(_ name: String) throws(FormError) -> String {
    guard let text = object[name]?.string else { throw FormError(name) }
    return text
  }

  package func optionalText(_ name: String) throws(FormError) -> String? {
    object[name] == nil ? nil : try text(name)
  }

  package func integer(_ name: String) throws(FormError) -> Int64 {
    guard let number = object[name]?.integer else { throw FormError(name) }
    return number
  }

  package func optionalInteger(_ name: String) throws(FormError) -> Int64? {
    object[name] == nil ? nil : try integer(name)
  }

  /// False where it is not stated.
  package func flag(_ name: String) throws(FormError) -> Bool {
    guard let value = object[name] else { return false }
    guard let flag = value.boolean else { throw FormError(name) }
    return flag
  }

  package func texts(_ name: String) throws(FormError) -> [String] {
    guard let values = object[name]?.array else { throw FormError(name) }
    var texts: [String] = []
    for value in values {
      guard let text = value.string else { throw FormError(name) }
      texts.append(text)
    }
    return texts
  }

  package func optionalTexts(_ name: String) throws(FormError) -> [String]? {
    object[name] == nil ? nil : try texts(name)
  }

  package func object(_ name: String) throws(FormError) -> JSONObject {
    guard let value = object[name]?.object else { throw FormError(name) }
    return value
  }

  package func optionalObject(_ name: String) throws(FormError) -> JSONObject? {
    object[name] == nil ? nil : try object(name)
  }
}
