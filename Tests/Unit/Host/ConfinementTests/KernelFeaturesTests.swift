import Testing

@testable import Confinement

@Suite struct KernelFeaturesTests {
  @Test func thisKernelIsRead() {
    let features = KernelFeatures.read()
    #expect(features.numbers != nil && !features.release.contains("\n"))
  }

  @Test(
    arguments: [
      ("6.12.1-cloud", 7, true, 0), ("7.0", 7, nil, 0), ("6.1.0-31-amd64", 2, true, 2),
      ("5.10.0", nil, true, 2),
      ("6.12.0", 3, false, 2), ("", 7, nil, 0), ("6", 3, true, 1), ("5.4.0", nil, false, 3),
      ("6.12", 4, true, 1),
      ("6.12", 5, true, 1), ("6.12", 6, true, 0),
    ] as [(String, Int?, Bool?, Int)])
  func whatIsLost(release: String, landlock: Int?, filters: Bool?, count: Int) {
    let features = KernelFeatures(release: release, landlock: landlock, filtersCalls: filters)
    #expect(features.losses.count == count, "\(features.losses)")
  }
}
