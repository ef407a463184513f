"""What a game adds to learn its players' real addresses from a gate: NEW-ENVIRON's IPADDRESS (RFC 1572, MNES)."""

from evennia.server.portal.telnet import TelnetProtocol

NEW_ENVIRON, IS, SEND, VAR, VALUE = b"\x27", b"\x00", b"\x01", b"\x00", b"\x01"


class AddressTelnet(TelnetProtocol):
    def connectionMade(self):
        super().connectionMade()
        self.negotiationMap[NEW_ENVIRON] = self.environment
        self.do(NEW_ENVIRON).addCallbacks(self.ask, lambda _: None)

    def ask(self, _):
        wanted = b"".join(VAR + name for name in (b"IPADDRESS", b"CLIENT_NAME"))
        self.requestNegotiation(NEW_ENVIRON, SEND + wanted)

    def enableRemote(self, option):
        return option == NEW_ENVIRON or super().enableRemote(option)

    def environment(self, data):
        data = b"".join(data)
        for pair in data[1:].split(VAR)[1:]:
            name, found, value = pair.partition(VALUE)
            if name == b"IPADDRESS" and found:
                self.address = value.decode()
                self.sessionhandler.sync(self)
