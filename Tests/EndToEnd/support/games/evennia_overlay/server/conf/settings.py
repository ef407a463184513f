"""The settings of the game that the tests play: loopback only, ports from the environment, nothing slow."""

import os

from evennia.settings_default import *

SERVERNAME = "The Neighbour"
TELNET_INTERFACES = WEBSERVER_INTERFACES = ["127.0.0.1"]
WEBSOCKET_CLIENT_INTERFACE = AMP_INTERFACE = "127.0.0.1"
_telnet, _web, _web_inside, _websocket, _amp = map(int, os.environ["NEIGHBOUR_PORTS"].split())
TELNET_PORTS = [_telnet]
WEBSERVER_PORTS = [(_web, _web_inside)]
WEBSOCKET_CLIENT_PORT = _websocket
AMP_PORT = _amp
TELNET_PROTOCOL_CLASS = "server.conf.real_address.AddressTelnet"
LOGIN_THROTTLE_LIMIT = CREATION_THROTTLE_LIMIT = 0
MAX_COMMAND_RATE = 1_000_000
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SECRET_KEY = "not a secret: on loopback, for as long as the tests run"
# The first start makes the world, and shall not begin anew when that is done.
TEST_ENVIRONMENT = "NEIGHBOUR_IS_NEW" in os.environ
