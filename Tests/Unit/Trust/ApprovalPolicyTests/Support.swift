/// Policies as their files have them, and requests.
import ApprovalPolicy
import Testing

func policy(_ text: String) throws -> ApprovalPolicy {
  let bytes = Array(text.utf8)
  return try ApprovalPolicy(parsing: bytes.span)
}

/// With these rules, each as its file has it.
func policy(rules: String..., fallback: String? = nil) throws -> ApprovalPolicy {
  let tail = fallback.map { #","DEFAULT":\#($0)"# } ?? ""
  return try policy(#"{"rules":[\#(rules.joined(separator: ","))]\#(tail)}"#)
}

func problems(_ text: String) -> [String] {
  do {
    _ = try policy(text)
    return []
  } catch let failure as PolicyFailure {
    return failure.problems.map(\.description)
  } catch {
    return ["\(error)"]
  }
}

func request(_ operation: String, _ target: [(String, String)] = []) -> ApprovalQuestion {
  ApprovalQuestion(operation: operation, target: target)
}
