/// The one table of settings: parsing, `portcullis config`, the example file and docs/settings.md
/// follow it.
package enum SettingTable {
  /// In the order in which they are listed.
  package static let settings: [Setting] =
    environment + listening + game + sessionSettings + admission + attestation + store + devices + operation
    + admin + limits + former

  /// Those that documents and reports show: without former names.
  package static let current = settings.filter { $0.successor == nil }

  package static func setting(named name: String) -> Setting? { byName[name] }

  private static let byName = Dictionary(uniqueKeysWithValues: settings.map { ($0.name, $0) })

  private static let environment: [Setting] = [
    Setting(
      "NODE_ENV", .nodeEnvironment, optional: \.stated.nodeEnvironment,
      otherwise: "not production, with a warning",
      in: .environment,
      "The name that deployments of the first design set; production closes every relaxation, whatever its "
        + "case."
    ),
    Setting(
      "PORTCULLIS_ENV", .gateEnvironment, optional: \.stated.gateEnvironment,
      otherwise: "not production, with a warning", in: .environment,
      "The same as NODE_ENV, but another word than production, development, test or staging is refused; if either "
        + "says production, it is, because the stricter reading is the safe one."),
  ]

  private static let listening: [Setting] = [
    Setting(
      "LISTEN", .endpoints, \.listen, default: "0.0.0.0:8443,[::]:8443", in: .listening,
      "Where to listen; an IPv6 address takes IPv6 only, so both families are named, and 8443 needs no "
        + "privilege."
    ),
    Setting(
      "TLS_CERT_PATH", .path, optional: \.stated.certificatePath,
      otherwise: "a certificate for localhost made in memory, outside production", in: .listening,
      isReloadable: true, "The server's certificate chain in PEM, leaf first; required in production."),
    Setting(
      "TLS_KEY_PATH", .path, optional: \.stated.keyPath, otherwise: "as TLS_CERT_PATH", in: .listening,
      isReloadable: true,
      "The private key of the certificate in PEM; stated together with TLS_CERT_PATH or not at all."),
    Setting(
      "TLS_MIN_VERSION", .choice, \.minimumTLSVersion, default: "1.2", in: .listening, isReloadable: true,
      "The oldest version of TLS that clients may speak; every iPhone since iOS 12.2 speaks 1.3, some load balancers "
        + "do not."),
    Setting(
      "TRUSTED_PROXIES", .blocks, \.proxies.trusted, otherwise: "no proxy is believed", in: .listening,
      "Peers whose word on a client's address is believed; others could choose what they are counted by."),
    Setting(
      "LISTEN_PROXY_PROTOCOL", .boolean, \.proxies.requiresProxyProtocol, default: "false", in: .listening,
      "Whether every connection must open with a PROXY header, v1 or v2, from one of TRUSTED_PROXIES."),
    Setting(
      "WORKERS", .count(1...256), optional: \.stated.workers, otherwise: "the number of online processors",
      in: .listening,
      "Event loops, each a thread with its own listener; more than processors only adds switching."),
  ]

  private static let game: [Setting] = [
    Setting(
      "BACKEND", .backend, \.backend.target, default: "127.0.0.1:4000", in: .game,
      "The game server: host:port, unix:/path, or echo: for development, where messages come back as they "
        + "were."
    ),
    Setting(
      "BACKEND_PROXY_PROTOCOL", .choice, \.backend.proxyProtocol, default: "off", in: .game,
      "Whether the game is told the client's address by a PROXY header; off, as most game servers read "
        + "none."),
    Setting(
      "WS_MESSAGE_TYPE", .choice, \.messageType, default: "binary", in: .game,
      "The type of messages with the game's bytes; binary, since Telnet is not UTF-8."),
    Setting(
      "GAME_CHARSET", .charset, \.telnet.charset, default: "UTF-8", in: .game,
      "The charset of the game's text where the gate speaks telnet; apps always get UTF-8, which newer games "
        + "speak too."),
    Setting(
      "GAME_SGA", .boolean, \.telnet.agreesToSuppressGoAhead, default: "false", in: .game,
      "Whether a game may suppress go-ahead, as those that read key by key want; false, for go-ahead marks "
        + "prompts."),
    Setting(
      "GAME_COMPRESSION", .choice, \.telnet.compression, default: "off", in: .game,
      "Whether a game may compress its output (MCCP2); off, as it is near, and what goes to apps is compressed "
        + "anyway."),
    Setting(
      "GAME_KEEPALIVE", .durationOrOff(.seconds(1)...Duration.seconds(86_400)), \.telnet.keepAlive,
      default: "off", in: .game,
      "Silence towards the game after which it is sent a telnet NOP; off, as few games drop those who are silent."
    ),
  ]

  private static let sessionSettings: [Setting] = [
    Setting(
      "SUBPROTOCOLS", .subprotocols, \.sessions.subprotocols,
      default: "all", in: .sessions,
      "What apps may choose; none is an upgrade without a subprotocol. With none, binary and telnet only, no "
        + "telnet is spoken here."),
    Setting(
      "WS_COMPRESSION", .compression, \.compression, default: "on", in: .sessions, isReloadable: true,
      "Whether connections of apps that offer it are compressed (permessage-deflate); on, as phones pay for bytes. "
        + "An app declines it by Portcullis-Compression: off."),
    Setting(
      "GMCP_AGAIN", .packages, \.sessions.packagesToldAgain, default: "Char.*,Room.*,Group.*", in: .sessions,
      isReloadable: true,
      "GMCP packages whose last value an app is told again when messages were lost; those that say how things "
        + "stand."),
    Setting(
      "SESSION_RESUME_FOR", .duration(.zero...Duration.seconds(86_400)), \.sessions.resumableFor,
      default: "10m", in: .sessions, isReloadable: true,
      "How long a session of portcullis.v1 waits for its app after the connection is gone; 0 turns it off."),
    Setting(
      "HOT_RESTART", .choice, \.sessions.hotRestart, default: "auto", in: .sessions,
      "Whether sessions of portcullis.v1 outlive the gate's process: auto, wherever somebody keeps descriptors "
        + "for it."),
    Setting(
      "HOT_RESTART_MAX_SESSIONS", .count(0...4096), \.sessions.mostKept, default: "4096", in: .sessions,
      "So many of them do; more would slow down systemd, which compares each descriptor with all that it has."
    ),
    Setting(
      "DEVICE_PSEUDONYM_KEY_PATH", .path, optional: \.stated.pseudonymKeyPath,
      otherwise: "device-pseudonym.key beside ATTESTED_KEYS_PATH", in: .sessions,
      "The secret that devices' pseudonyms for the game are made with; another one would void what the game noted."
    ),
  ]

  private static let admission: [Setting] = [
    Setting(
      "REQUIRE_APP_AUTH", .boolean, \.requiresAppAuth, default: "true", in: .admission,
      "Whether only the attested app may come in; false is refused in production."),
    Setting(
      "ALLOWED_ORIGINS", .origins, \.origins, otherwise: "any origin", in: .admission,
      "Origins that may upgrade when they send one, against scripts of other sites; iOS apps usually send "
        + "none."
    ),
    Setting(
      "ALLOW_MTLS_FALLBACK", .boolean, \.stated.allowsFallback, default: "false", in: .admission,
      "Whether a verified client certificate admits the simulator, which has no App Attest; ignored in "
        + "production."
    ),
    Setting(
      "MTLS_CLIENT_CA_PATH", .path, optional: \.mtls.clientCAPath,
      otherwise: "no client certificate is asked for",
      in: .admission, isReloadable: true,
      "The only certificate authorities that client certificates are verified against, in PEM."),
  ]

  private static let attestation: [Setting] = [
    Setting(
      "APPATTEST_APP_IDS", .appIDs, optional: \.stated.appIDs,
      otherwise: "APPATTEST_TEAM_ID and APPATTEST_BUNDLE_ID", in: .attestation,
      "The apps that may attest, each with its team before the bundle identifier; a gate for Android alone has "
        + "none."),
    Setting(
      "APPATTEST_TEAM_ID", .teamID, optional: \.stated.teamID, otherwise: "APPATTEST_APP_IDS",
      in: .attestation,
      "The team of the only app, together with APPATTEST_BUNDLE_ID, instead of APPATTEST_APP_IDS."),
    Setting(
      "APPATTEST_BUNDLE_ID", .bundleID, optional: \.stated.bundleID, otherwise: "APPATTEST_APP_IDS",
      in: .attestation, "The bundle identifier of the only app, together with APPATTEST_TEAM_ID."),
    Setting(
      "APPATTEST_ENVIRONMENT", .environments, \.attest.environments, default: "production", in: .attestation,
      "Whose attestations are taken: of the App Store and TestFlight (production), of development builds, "
        + "or both."
    ),
    Setting(
      "APPATTEST_ROOT_CA_PATH", .path, optional: \.attest.rootPath,
      otherwise: "Apple's root, which is built in",
      in: .attestation,
      "Another root for attestations, for tests; in production only Apple's own is taken, known by its "
        + "SHA-256."
    ),
    Setting(
      "APPATTEST_ALLOWED_CATEGORIES", .categories, optional: \.attest.allowedCategories,
      otherwise: "not checked",
      in: .attestation, "Validation categories that an app may report (iOS 27 and later)."),
    Setting(
      "APPATTEST_ALLOWED_BUNDLE_VERSIONS", .words(longest: 256), optional: \.attest.allowedBundleVersions,
      otherwise: "not checked", in: .attestation, "Bundle versions that an app may report (iOS 27 and later)."
    ),
    Setting(
      "APPATTEST_REQUIRE_LAUNCH_INFO", .boolean, \.attest.requiresLaunchInfo, default: "false",
      in: .attestation,
      "Whether an app must report category and version; false, since iOS 26 and older report neither."),
    Setting(
      "RECEIPTS_PATH", .path, optional: \.attest.receiptsPath, otherwise: "receipts are not kept",
      in: .attestation,
      "A directory for Apple's receipts, one file a key, for a program that asks Apple for fraud metrics later."
    ),
  ]

  private static let store: [Setting] = [
    Setting(
      "ATTESTED_KEYS_PATH", .path, \.store.path, default: "config/attested-keys.json", in: .store,
      "The file of registered keys; its journal and lock stand beside it."),
    Setting(
      "KEYSTORE_DURABILITY", .choice, \.store.durability, default: "strict", in: .store,
      "Whether an answer waits until its record is on disk; relaxed may forget the last moments at a power "
        + "loss."
    ),
    Setting(
      "KEYSTORE_MAX_KEYS", .count(1...100_000_000), \.store.maximumKeys, default: "2000000", in: .store,
      "Keys in the store; then registrations get 503, since a key is never thrown out to make room."),
  ]

  private static let operation: [Setting] = [
    Setting(
      "CONTROL_SOCKET", .socketPath, \.controlSocketPath, default: "config/portcullis.sock", in: .operation,
      "Where the running server listens for keys, sessions, stats and check --health; its own user and root "
        + "are heard, and for sign-in links ADMIN_OPERATORS."
    ),
    Setting(
      "SOCKET_GROUP", .group, optional: \.stated.socketGroup,
      otherwise: "the gate's own user and group alone",
      in: .operation,
      "The group whose members may connect to APPROVALS_SOCKET, to ADMIN_LISTEN where that is a UNIX socket, and to "
        + "CONTROL_SOCKET where there are ADMIN_OPERATORS. The kernel tells who they are, and the gate what they may do."
    ),
    Setting(
      "RUN_AS", .runAs, optional: \.runAs,
      otherwise: "the user who started it; in production not root", in: .operation,
      "Whom a gate started as root becomes once it has bound its ports and read its keys; root only if it says so."
    ),
    Setting(
      "PORTCULLIS_SANDBOX", .boolean, \.isSandboxed, default: "true", in: .operation,
      "Whether the gate gives up calls and folders it never needs (seccomp, Landlock); off for debuggers and the like."
    ),
    Setting(
      "LOG_LEVEL", .choice, \.log.level, default: "info", in: .operation, isReloadable: true,
      "The least important lines written; admissions and refusals are at info."),
    Setting(
      "LOG_FORMAT", .choice, \.log.format, default: "text", in: .operation,
      "text (logfmt) reads well at a prompt, json in a collector."),
  ]
}
