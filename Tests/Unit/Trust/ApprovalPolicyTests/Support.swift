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

/// The same numbers on every run (Steele, Lea and Flood's SplitMix64).
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
