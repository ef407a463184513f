/// Former names of settings: they hold as before, each with a warning that names the setting to write instead.
extension SettingTable {
  static let former: [Setting] =
    timeouts + [
      Setting(
        "APPROVALS_GROUP", .group, optional: \.stated.approvalsGroup, otherwise: "SOCKET_GROUP", in: .devices,
        replacedBy: "SOCKET_GROUP", "The group of APPROVALS_SOCKET alone."),
      Setting(
        "ADMIN_SOCKET_GROUP", .group, optional: \.stated.adminSocketGroup, otherwise: "SOCKET_GROUP",
        in: .admin,
        replacedBy: "SOCKET_GROUP", "The group of the admin listener's socket and of CONTROL_SOCKET alone."),
      Setting(
        "GEO_COUNTRY_PATH", .path, optional: \.stated.countriesPath, otherwise: "a file of GEO_PATH",
        in: .devices,
        isReloadable: true, replacedBy: "GEO_PATH", "The database of countries or cities by its own path."),
      Setting(
        "GEO_ASN_PATH", .path, optional: \.stated.networksPath, otherwise: "a file of GEO_PATH", in: .devices,
        isReloadable: true, replacedBy: "GEO_PATH", "The database of networks by its own path."),
    ]

  private static let timeouts: [Setting] = timeoutRows.map { name, field, otherwise, reason in
    Setting(
      name, .duration(anyTimeout), optional: field, otherwise: otherwise, in: .limits, isReloadable: true,
      replacedBy: "HTTP_TIMEOUT", reason)
  }

  private static let timeoutRows: [(String, Field<Duration?>, String, String)] = [
    ("HTTP_HEAD_TIMEOUT", \.stated.httpHeadTimeout, "HTTP_TIMEOUT", "The time for a head alone."),
    ("HTTP_BODY_TIMEOUT", \.stated.httpBodyTimeout, "HTTP_TIMEOUT", "The time for a body alone."),
    (
      "HTTP_IDLE_TIMEOUT", \.stated.httpIdleTimeout, "three times HTTP_TIMEOUT",
      "The time between two requests alone."
    ),
  ]
}
