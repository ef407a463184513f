/// A phone's Keychain: generic passwords by their service and account, keys by their tag, a lock, and failures that a test has asked for.
internal import Foundation
internal import Synchronization

package final class FakeKeychain: DevicePart {
  package enum Call: Hashable, Sendable { case add, copyMatching, update, delete, makeKey }

  private struct State {
    var items = KeychainItems()
    var isLocked = false
    var failures: [Call: [Int32]] = [:]
    var calls: [Call] = []
  }

  private let state = Mutex(State())

  package init() {}

  static var current: FakeKeychain { AppleDevice.current[FakeKeychain.self] }

  // MARK: For a test

  /// As before the first unlock after a start of the phone.
  package var isLocked: Bool {
    get { state.withLock(\.isLocked) }
    set { state.withLock { state in state.isLocked = newValue } }
  }

  /// The next calls of this kind end so, and do nothing.
  package func fail(_ call: Call, _ statuses: Int32...) {
    state.withLock { state in state.failures[call, default: []] += statuses }
  }

  package var calls: [Call] { state.withLock(\.calls) }

  /// What lies under an account of a service; nil: nothing.
  package subscript(service: String, account: String) -> Data? {
    get { state.withLock { state in state.items[service, account]?.data } }
    set {
      state.withLock { state in
        state.items[service, account] = newValue.map { KeychainItems.Item(data: $0, accessible: nil) }
      }
    }
  }

  /// When the item may be read: a value of kSecAttrAccessible.
  package func accessible(_ service: String, _ account: String) -> String? {
    state.withLock { state in state.items[service, account]?.accessible }
  }

  // MARK: For the calls

  func makeKey(_ parameters: CFDictionary) -> (status: OSStatus, key: FakeKey?) {
    var key: FakeKey?
    let prompts = AppleDevice.current[FakePrompts.self]
    let status = perform(.makeKey) { items in items.makeKey(parameters, prompts, &key) }
    return (status, key)
  }

  func perform(_ call: Call, _ body: (inout KeychainItems) -> OSStatus) -> OSStatus {
    state.withLock { state in
      state.calls.append(call)
      if state.failures[call]?.isEmpty == false, let status = state.failures[call]?.removeFirst() {
        return status
      }
      return state.isLocked ? errSecInteractionNotAllowed : body(&state.items)
    }
  }
}

struct KeychainItems {
  /// What a query may ask for.
  enum Found: Sendable {
    case data(Data)
    case key(FakeKey)
  }

  struct Item {
    var data: Data
    var accessible: String?
  }

  private struct Place: Hashable {
    let service: String
    let account: String
  }

  private var items: [Place: Item] = [:]
  /// With their application tags; two may have the same one.
  private var keys: [(tag: Data, key: FakeKey)] = []

  subscript(service: String, account: String) -> Item? {
    get { items[Place(service: service, account: account)] }
    set { items[Place(service: service, account: account)] = newValue }
  }

  mutating func add(_ attributes: CFDictionary) -> OSStatus {
    guard let place = place(attributes), let data = attributes[kSecValueData] as? Data else {
      return errSecParam
    }
    if items[place] != nil { return errSecDuplicateItem }
    items[place] = Item(data: data, accessible: attributes[kSecAttrAccessible] as? String)
    return errSecSuccess
  }

  /// On P-256, private keys alone.
  mutating func makeKey(_ parameters: CFDictionary, _ prompts: FakePrompts, _ made: inout FakeKey?)
    -> OSStatus
  {
    guard parameters[kSecAttrKeyType] as? String == kSecAttrKeyTypeECSECPrimeRandom,
      parameters[kSecAttrKeySizeInBits] as? Int == 256
    else { return errSecParam }
    let attributes = parameters[kSecPrivateKeyAttrs] as? CFDictionary ?? [:]
    let control = attributes[kSecAttrAccessControl] as? SecAccessControl
    do {
      let key = try FakeKey(control?.flags ?? [], prompts)
      if attributes[kSecAttrIsPermanent] as? Bool == true {
        keys.append((attributes[kSecAttrApplicationTag] as? Data ?? Data(), key))
      }
      made = key
      return errSecSuccess
    } catch {
      return errSecParam
    }
  }

  func find(_ query: CFDictionary, _ found: inout Found?) -> OSStatus {
    if let tag = tag(query) {
      guard let key = keys.first(where: { $0.tag == tag && !$0.key.isGone })?.key else {
        return errSecItemNotFound
      }
      if query[kSecReturnRef] as? Bool == true { found = .key(key) }
      return errSecSuccess
    }
    guard let place = place(query) else { return errSecParam }
    guard let item = items[place] else { return errSecItemNotFound }
    if query[kSecReturnData] as? Bool == true { found = .data(item.data) }
    return errSecSuccess
  }

  mutating func update(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus {
    // What is about the result is no part of a query for a change.
    guard let place = place(query), attributes[kSecClass] == nil, query[kSecReturnData] == nil else {
      return errSecParam
    }
    guard var item = items[place] else { return errSecItemNotFound }
    if let data = attributes[kSecValueData] as? Data { item.data = data }
    if let accessible = attributes[kSecAttrAccessible] as? String { item.accessible = accessible }
    items[place] = item
    return errSecSuccess
  }

  mutating func delete(_ query: CFDictionary) -> OSStatus {
    if let tag = tag(query) {
      let before = keys.count
      keys.removeAll { $0.tag == tag }
      return keys.count == before ? errSecItemNotFound : errSecSuccess
    }
    guard let place = place(query) else { return errSecParam }
    return items.removeValue(forKey: place) == nil ? errSecItemNotFound : errSecSuccess
  }

  private func tag(_ query: CFDictionary) -> Data? {
    query[kSecClass] as? String == kSecClassKey ? query[kSecAttrApplicationTag] as? Data : nil
  }

  /// Of the data protection Keychain alone: without it a Mac would look in the user's old one.
  private func place(_ query: CFDictionary) -> Place? {
    guard query[kSecClass] as? String == kSecClassGenericPassword,
      query[kSecUseDataProtectionKeychain] as? Bool == true,
      let service = query[kSecAttrService] as? String, let account = query[kSecAttrAccount] as? String
    else { return nil }
    return Place(service: service, account: account)
  }
}
