/// What OpenSSL's ciphers have in common: a context for one message, and an algorithm that is fetched once.
internal import Bytes
internal import COpenSSL

/// An `EVP_CIPHER_CTX*` for one message. That keys, nonces and tags have their lengths is seen to before.
@safe struct CipherContext: ~Copyable {
  private let handle: OpaquePointer

  init() {
    guard let handle = unsafe EVP_CIPHER_CTX_new() else { fatalError("OpenSSL: EVP_CIPHER_CTX_new failed") }
    unsafe self.handle = handle
  }

  deinit {
    unsafe EVP_CIPHER_CTX_free(handle)
  }

  /// It is made of a block cipher but is none: OpenSSL wants to hear that this is meant.
  borrowing func allowWrapping() {
    unsafe EVP_CIPHER_CTX_set_flags(handle, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
  }

  /// - Parameters:
  ///   - cipher: of 256 bits.
  ///   - nonce: as long as the cipher has it by default; none for one with a value of its own.
  borrowing func begin(
    _ cipher: FetchedCipher, key: Bytes32, nonce: Span<UInt8> = Span(), encrypting: Bool
  ) {
    let key = key.inlineArray
    // Both buffers are the spans' own; OpenSSL copies what it needs before the call returns.
    unsafe key.span.withUnsafeBufferPointer { key in
      unsafe nonce.withUnsafeBufferPointer { nonce in
        unsafe expectSuccess(
          EVP_CipherInit_ex2(
            handle, cipher.handle, key.baseAddress, nonce.isEmpty ? nil : nonce.baseAddress,
            encrypting ? 1 : 0, nil),
          "EVP_CipherInit_ex2")
      }
    }
  }

  /// What comes out for `input`, which is all of a message; nil where the cipher refuses it.
  ///
  /// - Parameter spareBytes: how many more than the input's the cipher may write.
  borrowing func update(_ input: Span<UInt8>, spareBytes: Int) -> [UInt8]? {
    // OpenSSL takes no bytes for the end of the message: then there is nothing to be done.
    if input.isEmpty { return [] }
    guard let count = Int32(exactly: input.count) else { return nil }
    var isDone = false
    var output: [UInt8] = []
    output.append(addingCapacity: input.count + spareBytes) { output in
      // The cipher writes at most the input's length and one block, which the caller's spare bytes are for.
      unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
        unsafe input.withUnsafeBufferPointer { input in
          var written: Int32 = 0
          let result = unsafe EVP_CipherUpdate(
            handle, buffer.baseAddress, &written, input.baseAddress, count)
          isDone = result == 1
          filled = isDone ? Int(written) : 0
        }
      }
    }
    return isDone ? output : nil
  }

  /// Data that the tag is to cover, and that is not encrypted.
  borrowing func authenticate(_ data: Span<UInt8>) {
    guard !data.isEmpty else { return }
    guard let count = Int32(exactly: data.count) else { fatalError("CipherContext: \(data.count) bytes") }
    // Without an output OpenSSL only reads.
    unsafe data.withUnsafeBufferPointer { data in
      var written: Int32 = 0
      unsafe expectSuccess(
        EVP_CipherUpdate(handle, nil, &written, data.baseAddress, count), "EVP_CipherUpdate")
    }
  }

  /// Of a message that was encrypted to its end.
  borrowing func tag(count: Int) -> [UInt8] {
    var tag: [UInt8] = .init(repeating: 0, count: count)
    // The count given is the buffer's own.
    unsafe tag.withUnsafeMutableBytes { buffer in
      unsafe expectSuccess(
        EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_GET_TAG, Int32(buffer.count), buffer.baseAddress),
        "EVP_CTRL_AEAD_GET_TAG")
    }
    return tag
  }

  /// What the tag has to be: compared in constant time at the message's end.
  borrowing func expect(tag: Span<UInt8>) {
    var tag = tag.array
    // OpenSSL copies the tag, and writes nothing there.
    unsafe tag.withUnsafeMutableBytes { buffer in
      unsafe expectSuccess(
        EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_SET_TAG, Int32(buffer.count), buffer.baseAddress),
        "EVP_CTRL_AEAD_SET_TAG")
    }
  }

  /// The end of a message that leaves no bytes behind; false where its tag is another.
  borrowing func finish() -> Bool {
    var block: [16 of UInt8] = .init(repeating: 0)
    var span = block.mutableSpan
    return unsafe span.withUnsafeMutableBufferPointer { buffer in
      var written: Int32 = 0
      return unsafe EVP_CipherFinal_ex(handle, buffer.baseAddress, &written) == 1 && written == 0
    }
  }
}

/// An `EVP_CIPHER*`, which threads may share; fetching one costs more than its use.
@safe struct FetchedCipher: @unchecked Sendable {
  let handle: OpaquePointer

  init(_ name: StaticString) {
    guard let handle = unsafe EVP_CIPHER_fetch(nil, "\(name)", nil) else {
      fatalError("OpenSSL: \(name) is not available")
    }
    unsafe self.handle = handle
  }
}
