/// What is asked for, and the answer's head.
@available(iOS 8.0, *)
public struct URLRequest: Sendable {
  public var url: URL?
  public var httpMethod: String?
  public var httpBody: Data?
  /// Seconds without a byte.
  public var timeoutInterval: Double
  /// As they were set, the last one of a name.
  package private(set) var fields: [(name: String, value: String)] = []

  public init(url: URL) {
    self.url = url
    httpMethod = "GET"
    timeoutInterval = 60
  }

  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
    fields.removeAll { $0.name.lowercased() == field.lowercased() }
    if let value { fields.append((field, value)) }
  }
}

@available(iOS 2.0, *)
open class URLResponse: NSObject, @unchecked Sendable {
}

@available(iOS 2.0, *)
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  private let status: Int
  private let fields: [(name: String, value: String)]

  package init(status: Int, fields: [(name: String, value: String)]) {
    self.status = status
    self.fields = fields
  }

  open var statusCode: Int { status }

  /// Fields of one name are joined, as RFC 9110 §5.3 has it.
  @available(iOS 13.0, *)
  open func value(forHTTPHeaderField field: String) -> String? {
    let values = fields.filter { $0.name.lowercased() == field.lowercased() }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }
}
