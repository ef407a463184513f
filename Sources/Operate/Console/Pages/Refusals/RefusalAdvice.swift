/// What an operator does about a refusal, a sentence a code and for some steps (docs/troubleshooting.md, "Symptoms"; what
/// the app does is in docs/app.md).
import PortcullisProtocol

enum RefusalAdvice {
  /// A code that has none is told as the peer is told; there is none such.
  static func text(_ code: RefusalCode) -> String { texts[code] ?? code.sentence }

  /// Of the steps that one thing is to be done about.
  static func text(step: String) -> String? { steps[step] }

  static let texts = requests.merging(admission) { first, _ in first }.merging(devices) { first, _ in first }

  private static let requests: [RefusalCode: String] = [
    .badRequest: "Mostly scanners. If it is your app, it sends what it should not: the step says what.",
    .lengthRequired: "A client that does not say how much it sends: nothing to do, unless it is your app.",
    .contentTooLarge: "A body above HTTP_BODY_MAX_BYTES, longer than any registration: nothing to do.",
    .uriTooLong: "Mostly scanners: no address of the gate is that long.",
    .headersTooLarge:
      "A head above HTTP_HEAD_MAX_BYTES: mostly scanners, or a proxy in front that adds many fields.",
    .unsupportedMediaType: "A registration that is not sent as application/json: a bug of the app.",
    .expectationFailed: "An Expect header that means nothing here: a bug of the client.",
    .notImplemented:
      "A transfer coding other than chunked: a bug of the app, or scanners.",
    .versionNotSupported: "Scanners, or a proxy in front that is to be set to HTTP/1.1.",
    .methodNotAllowed: "Scanners. If it is your app, it asks in another way than the protocol says.",
    .notFound: "Scanners. If it is your app, look at the address that it was built with.",
    .upgradeRequired:
      "Browsers and scanners. If it is your app, a proxy in front drops Upgrade: let it pass WebSockets.",
    .requestTimeout: "A slow network, or somebody who wants to hold connections: nothing to do.",
    .originForbidden: "A web page tried to connect. If it is yours, list its origin in ALLOWED_ORIGINS.",
    .rateLimited:
      "Somebody asks too often. If many players share that address, it is a proxy: name it in TRUSTED_PROXIES.",
    .internalError: "A fault of the gate: look in the log for the same time and connection, and report it.",
  ]

  private static let admission: [RefusalCode: String] = [
    .assertionRequired:
      "Somebody without the app. If it is a simulator, client_certificate_refused in the log says what is wrong.",
    .nonceInvalid:
      "A few are usual after a restart. Many: several gates behind one balancer that sends a client to another one.",
    .keyUnknown:
      "The app registers anew by itself. If all do, the store is another one or APPATTEST_APP_IDS has changed.",
    .assertionRejected:
      "The step says what did not hold. A counter that has not risen is a copied key, or an old backup of this store.",
    .attestationRejected:
      "If all apps get it, compare APPATTEST_APP_IDS and APPATTEST_ENVIRONMENT with the app; else look at the step.",
    .keyRevoked: "As it should be: the key is revoked, and its phone still tries.",
    .keyKnown: "The app lost the answer to its registration, and goes on by itself: nothing to do.",
    .superseded: "The same app came twice, and the later one counts: nothing to do.",
    .backendUnavailable: "The game does not answer: look whether it runs, and listens where BACKEND says.",
    .overloaded: "More than the gate can hold came at once. If it stays: a larger machine, or higher limits.",
    .shuttingDown: "The gate drains or stops, and the apps come again by themselves: nothing to do.",
    .storeUnavailable: "The disk of a store is full or fails: make room, and the gate goes on by itself.",
  ]

  private static let devices: [RefusalCode: String] = [
    .clockSkewed:
      "The phone's clock is off by more than five minutes. If all are, this host's is: run portcullis check.",
    .tokenRejected: "A token that is over or meant for another: the app gets a new one by itself.",
    .deviceUnknown: "The device is not here any more: its person pairs the phone again.",
    .signatureRejected: "A bug of the app, or somebody without the device's key: look at the device.",
    .attestationStale:
      "The app attests again by itself: nothing to do, unless one phone gets it again and again.",
    .devicePending: "The phone waits to be confirmed: do so under Devices, if you know it.",
    .deviceRevoked: "As it should be: the device is revoked, and still tries.",
    .levelTooLow:
      "The device's keys are attested less well than DEVICE_MIN_LEVEL or the policy asks: another phone.",
    .scopeMissing:
      "The service's token does not allow this: add the service anew with the scope, if it should.",
    .policyRefused: "The policy does not allow it: portcullis explain approval says which rule decides.",
    .requesterBarred:
      "Somebody reported this requester: look into it, then lift the bar with portcullis approvals unbar.",
    .codeRejected: "Wrong digits: nothing to do about one. Many for one person: somebody guesses.",
    .presenceRejected:
      "The phone was not near, or could not show that it is: its person tries again at the screen.",
    .presenceRequired: "The policy wants the phone near for this: nothing to do.",
    .riskDenied:
      "The policy of risk counts too much: portcullis explain risk says what of a recorded request.",
    .leaseMismatch: "A service used an approval for something else than was approved: a bug there, or worse.",
    .noDevice: "Nobody could be asked: the person has no active device that is good enough for the policy.",
    .notPending: "It was decided already, or is over: nothing to do.",
    .alreadyVoted: "The phone said the same before, and lost the answer: nothing to do.",
    .idempotencyConflict: "The service uses one idempotency key for different requests: a bug there.",
    .leaseExhausted: "The approval was used as often as it may be: the service asks anew.",
    .leaseEnded: "The approval's time is over: the service asks anew.",
    .pairingRejected:
      "The code on the screen was used, burnt, or is over: make a new one with portcullis devices pair.",
    .clientOutdated: "The app is older than the policy allows: its person has to update it.",
    .quotaExceeded: "One service asks so much that it would fill the disk: see SERVICE_STORE_PER_DAY.",
    .tooManyOpen: "As many wait as may: if a service does this, it asks without end.",
    .subjectLocked:
      "Too many wrong codes for this person: find out whose, then run portcullis devices unlock.",
  ]

  private static let steps: [String: String] = [
    "rp_id": "APPATTEST_APP_IDS has another team or bundle id than the app.",
    "leaf_app_id": "APPATTEST_APP_IDS has another team or bundle id than the app.",
    "aaguid": "A build from Xcode at a gate for production, or the other way round: APPATTEST_ENVIRONMENT.",
    "chain_validity": "A certificate has ended, or this host's clock is wrong: run portcullis check.",
    "no_app": "No app is set for this kind of phone: APPATTEST_APP_IDS, ANDROID_APPS.",
    "no_play_keys": "PLAY_INTEGRITY_KEYS_PATH is not set.",
  ]
}
