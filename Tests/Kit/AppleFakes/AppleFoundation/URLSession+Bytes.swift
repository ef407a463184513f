/// One request with its answer, whose body comes byte by byte.
internal import Synchronization

extension URLSession {
  /// Waits for the answer's head. The session's delegate is asked, but not told of the end.
  @available(iOS 15.0, *)
  public func bytes(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URLSession.AsyncBytes, URLResponse) {
    precondition(delegate == nil, "the fake asks the session's delegate alone")
    let task = BytesTask(request, in: self)
    add(task)
    let response = try await withTaskCancellationHandler {
      task.resume()
      return try await task.head()
    } onCancel: {
      task.cancel()
    }
    return (AsyncBytes(task: task), response)
  }

  @available(iOS 15.0, *)
  public struct AsyncBytes: AsyncSequence, Sendable {
    public typealias Element = UInt8
    let task: BytesTask

    public struct Iterator: AsyncIteratorProtocol, Sendable {
      let task: BytesTask
      private var piece: ArraySlice<UInt8> = []

      init(_ task: BytesTask) {
        self.task = task
      }

      public mutating func next() async throws -> UInt8? {
        while piece.isEmpty {
          guard let more = try await task.piece() else { return nil }
          piece = more[...]
        }
        return piece.removeFirst()
      }
    }

    public func makeAsyncIterator() -> URLSession.AsyncBytes.Iterator { Iterator(task) }
  }
}

final class BytesTask: URLSessionTask, @unchecked Sendable {
  private struct Body {
    var response: URLResponse?
    var head: CheckedContinuation<URLResponse, any Error>?
    var reader: CheckedContinuation<[UInt8]?, any Error>?
    var pieces: [[UInt8]] = []
    var end: Result<Void, URLError>?
  }

  private let body = Mutex(Body())

  func head() async throws -> URLResponse {
    try await withCheckedThrowingContinuation { continuation in
      let known = body.withLock { body -> Result<URLResponse, URLError>? in
        if let response = body.response { return .success(response) }
        if case .failure(let error) = body.end { return .failure(error) }
        body.head = continuation
        return nil
      }
      if let known { continuation.resume(with: known.mapError { $0 }) }
    }
  }

  func piece() async throws -> [UInt8]? {
    try await withCheckedThrowingContinuation { continuation in
      let next = body.withLock { body -> Result<[UInt8]?, URLError>? in
        if !body.pieces.isEmpty { return .success(body.pieces.removeFirst()) }
        if let end = body.end { return end.map { nil } }
        body.reader = continuation
        return nil
      }
      if let next { continuation.resume(with: next.mapError { $0 }) }
    }
  }

  override func didReceive(_ response: URLResponse) {
    let head = body.withLock { body in
      body.response = response
      defer { body.head = nil }
      return body.head
    }
    head?.resume(returning: response)
  }

  override func didReceive(_ bytes: [UInt8]) {
    let reader = body.withLock { body -> CheckedContinuation<[UInt8]?, any Error>? in
      if body.reader == nil { body.pieces.append(bytes) }
      defer { body.reader = nil }
      return body.reader
    }
    reader?.resume(returning: bytes)
  }

  override func didEnd(_ error: URLError?) {
    let (head, reader) = body.withLock { body in
      body.end = error.map { .failure($0) } ?? .success(())
      defer { (body.head, body.reader) = (nil, nil) }
      return (body.head, body.reader)
    }
    head?.resume(throwing: error ?? URLError(.badServerResponse))
    reader?.resume(with: error.map { .failure($0) } ?? .success(nil))
  }

  override var tellsDelegateOfEnd: Bool { false }
}
