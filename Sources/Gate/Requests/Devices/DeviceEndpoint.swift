/// All endpoints of devices, services and approvals, a row each, and which of them a request is for (docs/protocol-devices.md,
/// "Devices").
internal import Admission
internal import Bytes
package import HTTPWire
internal import DeviceWire
internal import Registry

/// A row, bound to what the path of a request names.
package struct DeviceEndpoint: Sendable {
  package let row: EndpointRow
  package let reader: RequestReader
  fileprivate let id: String?

  package var hasBody: Bool {
    switch reader {
    case .plain: false
    case .withBody: true
    }
  }

  /// Rows of one path in the order in which `Allow` names their methods.
  package static let rows: [EndpointRow] = [
    EndpointRow(.post, "/device/enroll", .nobody, .change("enroll"), .withBody(BodyReader.enroll)),
    EndpointRow(.post, "/mobile/attest", .nobody, .change("attest"), .withBody(BodyReader.attest)),
    EndpointRow(.post, "/device/token", .nobody, .look("token"), .withBody(BodyReader.token)),
    EndpointRow(.post, "/device/rotate", .nobody, .change("rotate"), .withBody(BodyReader.rotate)),
    EndpointRow(.post, "/device/heartbeat", .device, .look("heartbeat"), .withBody(BodyReader.heartbeat)),
    EndpointRow(.get, "/device/self", .device, .look("self"), .plain { ReadSelf(bearer: $0.token) }),
    EndpointRow(
      .post, "/device/introspect", .service, .look("introspect"),
      .form { body throws(FormError) in Introspect(bearer: body.token, try IntrospectForm(body.form)) }),

    EndpointRow(
      .post, "/pair", .service, .change("pair"),
      .form { body throws(FormError) in try OpenPairing(form: body.form, token: body.token) }),
    // The phone shows what it has committed to; else it is the service that has asked for the pairing.
    EndpointRow(
      .get, "/pair/{id}", .service, .look("pairing"), query: [.reveal, .wait], tokenless: .reveal,
      .plain(PlainReader.pairing)),
    EndpointRow(.post, "/pair/{id}", .nobody, .change("pairing"), .withBody(BodyReader.answerPairing)),
    EndpointRow(
      .post, "/pair/{id}/confirm", .service, .change("confirm"),
      .form { id, body throws(FormError) in try ConfirmPairing(id, form: body.form, token: body.token) }),

    EndpointRow(
      .get, "/approvals", .device, .look("approvals"), query: [.after, .wait],
      .plain { ListApprovals(bearer: $0.token, after: $0.query[.after]) }),
    EndpointRow(
      .post, "/approvals", .service, .change("request"),
      .form { body throws(FormError) in try RequestApproval(bearer: body.token, form: body.form) }),
    EndpointRow(
      .get, "/approvals/{id}", .service, .look("approval"), query: [.wait],
      .plain { id, request in ShowApproval(bearer: request.token, approval: id) }),
    EndpointRow(
      .delete, "/approvals/{id}", .service, .change("cancel"),
      .plain { id, request in CancelApproval(bearer: request.token, approval: id) }),
    // A vote counts, of a phone too whose token this gate has not seen since its start.
    EndpointRow(
      .post, "/approvals/{id}/decision", .device, .change("decision"), strangers: .known,
      .form { id, body throws(FormError) in
        try DecideApproval(bearer: body.token, approval: id, form: body.form)
      }),
    EndpointRow(
      .post, "/leases/{id}/use", .service, .change("lease_use"),
      .form { id, body throws(FormError) in try UseLease(bearer: body.token, lease: id, form: body.form) }),
    EndpointRow(
      .delete, "/leases/{id}", .service, .change("lease_end"),
      .plain { id, request in EndLease(bearer: request.token, lease: id) }),

    EndpointRow(
      .post, "/presence/challenge", .service, .look("presence_challenge"),
      .withBody(BodyReader.askPresence)),
    EndpointRow(
      .post, "/presence/verify", .service, .change("presence"), .withBody(BodyReader.provePresence)),

    // Logins that wait for a device's code.
    EndpointRow(
      .get, "/auth/otp", .device, .look("codes"), query: [.after, .wait],
      .plain { ListCodes(bearer: $0.token, after: $0.query[.after]) }),
    EndpointRow(
      .post, "/auth/otp/challenge", .service, .change("otp_challenge"),
      .form { body throws(FormError) in try ChallengeCode(bearer: body.token, form: body.form) }),
    EndpointRow(.post, "/auth/otp/issue", .device, .change("otp_issue"), .withBody(BodyReader.issueCode)),
    EndpointRow(
      .post, "/auth/otp/verify", .service, .change("otp_verify"),
      .form { body throws(FormError) in try VerifyCode(bearer: body.token, form: body.form) }),

    EndpointRow(.get, "/.well-known/jwks.json", .nobody, .look("jwks"), .keySet),
  ]

  // MARK: Which of them

  package enum Found: Equatable {
    case endpoint(DeviceEndpoint)
    case keySet
    case notFound
    case methodNotAllowed(allow: String)
  }

  /// Where nobody's upgrades lie, whether there is an endpoint or not.
  private static let folders = ["/device/", "/pair/", "/approvals/", "/leases/", "/auth/otp/", "/presence/"]
  private static let singles = rows.map(\.path.text).filter { path in
    !folders.contains { path.hasPrefix($0) }
  }

  /// Where a request goes that is about devices; nil for one that is not.
  package static func find(_ head: RequestHead) -> Found? {
    guard folders.contains(where: head.pathBegins) || singles.contains(where: head.pathIs) else { return nil }
    let segments = PathTemplate.segments(of: head.path)
    var methods: [String] = []
    for row in rows {
      guard case .whole(let id) = row.path.match(segments), let found = row.bound(to: id) else { continue }
      if row.method == head.method { return found }
      methods.append(row.method.name)
    }
    return methods.isEmpty ? .notFound : .methodNotAllowed(allow: methods.joined(separator: ", "))
  }
}

extension DeviceEndpoint: Equatable {
  /// The same row, and the same identifier in the path.
  package static func == (left: Self, right: Self) -> Bool {
    left.row.method == right.row.method && left.row.path == right.row.path && left.id == right.id
  }
}

extension EndpointRow {
  /// Nil where the path names something by what is no identifier.
  fileprivate func bound(to id: String?) -> DeviceEndpoint.Found? {
    switch answer {
    case .keySet: .keySet
    case .registry(let bind): bind(id).map { .endpoint(DeviceEndpoint(row: self, reader: $0, id: id)) }
    }
  }
}

extension RequestHead.Method {
  fileprivate var name: String {
    switch self {
    case .get: "GET"
    case .post: "POST"
    case .delete: "DELETE"
    case .head: "HEAD"
    case .other: ""
    }
  }
}
