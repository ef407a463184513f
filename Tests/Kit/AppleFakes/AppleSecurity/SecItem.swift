/// The Keychain's four calls. What they find is in `FakeKeychain`.

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
  var data: Data?
  let status = FakeKeychain.current.perform(.copyMatching) { items in items.find(query, &data) }
  // The caller's variable, for as long as the call lasts.
  if let data { unsafe result?.pointee = data }
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
