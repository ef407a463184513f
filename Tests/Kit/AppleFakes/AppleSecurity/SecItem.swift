/// The Keychain's four calls. What they find is in `FakeKeychain`.
internal import Foundation

@available(iOS 2.0, *)
public func SecItemAdd(
  _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
  FakeKeychain.current.perform(.add) { items in items.add(attributes) }
}

@available(iOS 2.0, *)
public func SecItemCopyMatching(
  _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
  var found: KeychainItems.Found?
  let status = FakeKeychain.current.perform(.copyMatching) { items in items.find(query, &found) }
  // The caller's variable, for as long as the call lasts.
  switch found {
  case .data(let data): unsafe result?.pointee = data
  case .key(let key):
    let context = query[kSecUseAuthenticationContext] as? any AuthenticationContext
    unsafe result?.pointee = SecKey(key, context: context)
  case nil: break
  }
  return status
}

@available(iOS 2.0, *)
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
  FakeKeychain.current.perform(.update) { items in items.update(query, attributesToUpdate) }
}

@available(iOS 2.0, *)
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  FakeKeychain.current.perform(.delete) { items in items.delete(query) }
}
