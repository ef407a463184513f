/// Core Foundation's types. On Apple's systems `as` bridges between them and Swift's; here they are the same.
@_exported public import Foundation

@available(iOS 2.0, *)
public typealias CFString = String
@available(iOS 2.0, *)
public typealias CFData = Data
@available(iOS 2.0, *)
public typealias CFArray = [Any]
@available(iOS 2.0, *)
public typealias CFDictionary = [String: Any]
@available(iOS 2.0, *)
public typealias CFTypeRef = Any
@available(iOS 2.0, *)
public typealias OSStatus = Int32
