/// An error of Objective-C: a domain and a number.
@available(iOS 2.0, *)
open class NSError: NSObject, Error, @unchecked Sendable {
  private let name: String
  private let number: Int

  public init(domain: String, code: Int, userInfo dict: [String: Any]? = nil) {
    name = domain
    number = code
  }

  open var domain: String { name }
  open var code: Int { number }
}

@available(iOS 2.0, *)
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
