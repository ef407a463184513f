import Testing

@testable import Confinement

@Suite struct NameServicesTests {
  @Test(arguments: [
    ("hosts: files dns", ["files", "dns"]),
    (
      "passwd: files\nhosts:\tfiles mdns4_minimal [NOTFOUND=return] dns  # why\n",
      ["files", "mdns4_minimal", "dns"]
    ),
    ("hosts: ../../tmp/evil dns", ["dns"]), ("# hosts: files", []), ("", []),
  ])
  func theLineForHostsCounts(text: String, names: [String]) {
    #expect(NameServices.names(in: text) == names)
  }
}
