/// docs/openapi.yaml beside the program: its paths, methods, tokens, queries and codes are those of the gate.
import HTTPWire
import Kit
import PortcullisProtocol
import Testing

@testable import Gateway
@testable import Requests

@Suite struct DescriptionTests {
  private let page: Description

  init() throws {
    page = try Description()
  }

  /// What is described is there, and what a described path answers to is described.
  @Test func pathsAndMethods() throws {
    #expect(page.paths.count >= 26)
    for path in page.paths where !path.isAdmin {
      for method in ["GET", "POST", "DELETE", "HEAD", "PUT"] {
        let found = try Found(method, path.example)
        if path.operations.contains(where: { $0.method == method }) {
          #expect(found.isEndpoint, "\(method) \(path.name)")
        } else {
          #expect(found.allow == path.methods, "\(method) \(path.name)")
        }
      }
    }
  }

  /// No endpoint of the program is missing.
  @Test func everyEndpoint() throws {
    var devices: Set<String> = []
    var routes: [Route] = []
    for path in page.paths where !path.isAdmin {
      for operation in path.operations {
        switch try Found(operation.method, path.example) {
        case .device(.endpoint(let endpoint)): devices.insert(endpoint.row.name)
        case .device(.keySet): devices.insert("get /.well-known/jwks.json")
        case .route(let route): routes.append(route)
        case .device(.notFound), .device(.methodNotAllowed): break
        }
      }
    }
    #expect(devices == Set(DeviceEndpoint.rows.map(\.name)))
    #expect(devices.count == DeviceEndpoint.rows.count)
    for route in [Route.health, .challenge, .body(.register), .upgrade] { #expect(routes.contains(route)) }
  }

  @Test func tokensBodiesAndQueries() throws {
    for path in page.paths {
      for operation in path.operations {
        let name = "\(operation.method) \(path.name)"
        let found = try Found(operation.method, path.example)
        if case .device(.keySet) = found {
          #expect(!operation.hasBody && operation.queries.isEmpty && operation.bearers == ["nobody"])
        }
        guard case .device(.endpoint(let endpoint)) = found else { continue }
        #expect(operation.hasBody == endpoint.hasBody, "\(name)")
        #expect(operation.queries == Set(endpoint.row.queryNames.map(\.rawValue)), "\(name)")
        let bearers = try [nil, "reveal=x"].map { (query) throws in
          endpoint.row.bearer(try DeviceQuery(query, allowing: query == nil ? [] : [.reveal]))
        }
        #expect(Set(operation.bearers) == Set(bearers.map(\.word)), "\(name)")
      }
    }
  }

  /// Each code is listed where its status is, and none is missing.
  @Test func codes() {
    var listed: Set<String> = []
    for (status, codes) in page.refusals {
      for code in codes {
        let known = RefusalCode(rawValue: code)
        #expect(known != nil, "\(code)")
        guard let known else { continue }
        listed.insert(code)
        let isOne =
          status.hasSuffix("XX")
          ? known.statusCode / 100 == Int(status.prefix(1)) : "\(known.statusCode)" == status
        #expect(isOne, "\(code) under \(status)")
      }
    }
    #expect(listed == Set(RefusalCode.allCases.map(\.rawValue)))
  }
}

/// What the program makes of a request line.
private enum Found {
  case device(DeviceEndpoint.Found)
  case route(Route)

  init(_ method: String, _ path: String) throws {
    let head = try head("\(method) \(path) HTTP/1.1")
    if let found = DeviceEndpoint.find(head) {
      self = .device(found)
    } else {
      self = .route(Route(head, attests: true, hasDevices: true))
    }
  }

  var isEndpoint: Bool {
    switch self {
    case .device(.endpoint), .device(.keySet), .route(.health), .route(.challenge), .route(.body),
      .route(.upgrade):
      true
    case .device(.notFound), .device(.methodNotAllowed), .route(.notFound), .route(.methodNotAllowed): false
    }
  }

  /// The methods that are allowed instead.
  var allow: Set<String>? {
    switch self {
    case .device(.methodNotAllowed(let allow)), .route(.methodNotAllowed(let allow)):
      Set(allow.split(separator: ", ").map(String.init))
    default: nil
    }
  }
}

extension EndpointRow {
  fileprivate var name: String { "\(method) \(path.text)" }
}

extension EndpointRow.Bearer {
  /// As the page names whose token it is.
  fileprivate var word: String {
    switch self {
    case .nobody: "nobody"
    case .device: "device"
    case .service: "service"
    }
  }
}
