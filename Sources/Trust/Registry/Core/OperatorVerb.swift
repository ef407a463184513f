/// The orders that an operator, or a user of the host, may give to the registry: one case each, by the control socket's word
/// (docs/running.md, "Control socket").

package enum OperatorVerb: String, CaseIterable, Sendable {
  case devicesList = "devices-list"
  case devicesShow = "devices-show"
  case devicesBrowse = "devices-browse"
  case devicesNames = "devices-names"
  case devicesLook = "devices-look"
  case devicesConfirm = "devices-confirm"
  case devicesAssign = "devices-assign"
  case devicesRename = "devices-rename"
  case devicesExcept = "devices-except"
  case devicesRevoke = "devices-revoke"
  case devicesEnd = "devices-end"
  case devicesForget = "devices-forget"
  case devicesUnlock = "devices-unlock"
  case devicesRotateTokenKeys = "devices-rotate-token-keys"
  case devicesBackup = "devices-backup"

  case pairOpen = "pair-open"
  case pairStatus = "pair-status"
  case pairConfirm = "pair-confirm"
  case pairBrowse = "pair-browse"
  case pairBurn = "pair-burn"

  case servicesList = "services-list"
  case servicesAdd = "services-add"
  case servicesRotate = "services-rotate"
  case servicesRevoke = "services-revoke"

  case approvalsRequest = "approvals-request"
  case approvalsList = "approvals-list"
  case approvalsShow = "approvals-show"
  case approvalsBrowse = "approvals-browse"
  case approvalsLook = "approvals-look"
  case approvalsApprove = "approvals-approve"
  case approvalsDeny = "approvals-deny"
  case approvalsCancel = "approvals-cancel"

  case barsList = "bars-list"
  case barsLift = "bars-lift"

  case auditList = "audit-list"
  case auditExport = "audit-export"
  case auditSearch = "audit-search"
  case auditVerify = "audit-verify"
  case auditPrune = "audit-prune"
}

extension OperatorVerb {
  /// What the order is about.
  package enum Part: Sendable {
    case devices, pairings, services, approvals, bars, audit
  }

  package var part: Part {
    switch self {
    case .devicesList, .devicesShow, .devicesBrowse, .devicesNames, .devicesLook, .devicesConfirm,
      .devicesAssign, .devicesRename, .devicesExcept, .devicesRevoke, .devicesEnd, .devicesForget,
      .devicesUnlock, .devicesRotateTokenKeys, .devicesBackup:
      .devices
    case .pairOpen, .pairStatus, .pairConfirm, .pairBrowse, .pairBurn: .pairings
    case .servicesList, .servicesAdd, .servicesRotate, .servicesRevoke: .services
    case .approvalsRequest, .approvalsList, .approvalsShow, .approvalsBrowse, .approvalsLook,
      .approvalsApprove, .approvalsDeny, .approvalsCancel:
      .approvals
    case .barsList, .barsLift: .bars
    case .auditList, .auditExport, .auditSearch, .auditVerify, .auditPrune: .audit
    }
  }

  /// False for what only looks.
  package var isChange: Bool {
    switch self {
    case .devicesList, .devicesShow, .devicesBrowse, .devicesNames, .devicesLook, .pairStatus, .pairBrowse,
      .servicesList, .approvalsList, .approvalsShow, .approvalsBrowse, .approvalsLook, .barsList, .auditList,
      .auditExport, .auditSearch, .auditVerify:
      false
    case .devicesConfirm, .devicesAssign, .devicesRename, .devicesExcept, .devicesRevoke, .devicesEnd,
      .devicesForget, .devicesUnlock, .devicesRotateTokenKeys, .devicesBackup, .pairOpen, .pairConfirm,
      .pairBurn, .servicesAdd, .servicesRotate, .servicesRevoke, .approvalsRequest, .approvalsApprove,
      .approvalsDeny, .approvalsCancel, .barsLift, .auditPrune:
      true
    }
  }

  /// What an order ends in the running gate, beside what it changes in the store.
  package enum Ending: Sendable {
    case nothing
    /// Devices, with their sessions and their App Attest keys.
    case devices
    /// The same, by another order that is given first: the rows go when the keys have ended.
    case devicesFirst(OperatorVerb)
  }

  package var ending: Ending {
    switch self {
    case .devicesRevoke: .devices
    case .devicesForget: .devicesFirst(.devicesEnd)
    case .devicesList, .devicesShow, .devicesBrowse, .devicesNames, .devicesLook, .devicesConfirm,
      .devicesAssign, .devicesRename, .devicesExcept, .devicesEnd, .devicesUnlock, .devicesRotateTokenKeys,
      .devicesBackup, .pairOpen, .pairStatus, .pairConfirm, .pairBrowse, .pairBurn, .servicesList,
      .servicesAdd, .servicesRotate, .servicesRevoke, .approvalsRequest, .approvalsList, .approvalsShow,
      .approvalsBrowse, .approvalsLook, .approvalsApprove, .approvalsDeny, .approvalsCancel, .barsList,
      .barsLift, .auditList, .auditExport, .auditSearch, .auditVerify, .auditPrune:
      .nothing
    }
  }
}
