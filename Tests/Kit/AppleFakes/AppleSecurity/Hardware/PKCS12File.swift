/// Reads a PKCS #12 file (RFC 7292) by OpenSSL.
internal import COpenSSL
internal import Foundation

enum PKCS12File {
  static func open(_ bytes: [UInt8], _ password: String, _ identity: inout ShownIdentity?) -> OSStatus {
    defer { ERR_clear_error() }
    // Reads the array, which outlives the call, and keeps no pointer into it.
    let read = unsafe bytes.withUnsafeBufferPointer { buffer in
      var next = buffer.baseAddress
      return unsafe d2i_PKCS12(nil, &next, buffer.count)
    }
    guard let file = unsafe read else { return errSecDecode }
    defer { unsafe PKCS12_free(file) }
    guard unsafe PKCS12_verify_mac(file, password, -1) == 1 else { return errSecAuthFailed }
    var key: OpaquePointer?
    var certificate: OpaquePointer?
    var others: OpaquePointer?
    guard unsafe PKCS12_parse(file, password, &key, &certificate, &others) == 1,
      let key = unsafe key, let certificate = unsafe certificate
    else { return errSecDecode }
    // All three are this call's own.
    defer {
      unsafe EVP_PKEY_free(key)
      unsafe X509_free(certificate)
      if let others = unsafe others { unsafe portcullis_x509_stack_pop_free(others) }
    }
    var chain = unsafe [PeerTrust.encode(certificate)]
    for index in 0..<max(0, unsafe portcullis_x509_stack_count(others)) {
      if let other = unsafe portcullis_x509_stack_value(others, index) {
        chain.append(unsafe PeerTrust.encode(other))
      }
    }
    guard let information = unsafe EVP_PKEY2PKCS8(key) else { return errSecDecode }
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
    let count = unsafe i2d_PKCS8_PRIV_KEY_INFO(information, nil)
    var der = [UInt8](repeating: 0, count: Int(max(0, count)))
    unsafe der.withUnsafeMutableBufferPointer { buffer in
      var next = buffer.baseAddress
      _ = unsafe i2d_PKCS8_PRIV_KEY_INFO(information, &next)
    }
    identity = ShownIdentity(chain: chain, key: der)
    return errSecSuccess
  }
}
