/// What Objective-C's classes begin with, and the small ones among Foundation's.
@_exported public import Dispatch
@_exported public import FoundationEssentials

@available(iOS 2.0, *)
open class NSObject {
  public init() {}
}

/// Delegates are called on the session's own queue: nobody makes one of these.
@available(iOS 2.0, *)
open class OperationQueue: NSObject, @unchecked Sendable {
}

@available(iOS 2.0, *)
open class URLCache: NSObject, @unchecked Sendable {
}

/// Of an app without resources.
@available(iOS 2.0, *)
open class Bundle: NSObject, @unchecked Sendable {
  open class var main: Bundle { Bundle() }

  @available(iOS 4.0, *)
  open func url(forResource name: String?, withExtension ext: String?) -> URL? { nil }
}
