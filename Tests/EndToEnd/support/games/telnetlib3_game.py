"""A game by telnetlib3, run by the Python that has it: telnetlib3_game.py PORT ENCODING. One JSON object a line is printed.

It greets, answers lines, sends back what comes by GMCP, hides a password, and prints what it learned of its client.
"""

import asyncio
import json
import sys

import telnetlib3
from telnetlib3.telopt import ECHO, GMCP, WILL, WONT

KNOWN = (
    "ttype1",
    "ttype2",
    "ttype3",
    "cols",
    "rows",
    "charset",
    "IPADDRESS",
    "CLIENT_NAME",
    "PORTCULLIS_DEVICE",
)


def tell(**facts):
    print(json.dumps(facts), flush=True)


async def shell(reader, writer):
    """One player."""

    def returned(package, data):
        tell(gmcp=[package, data])
        writer.send_gmcp("Game.Echo", [package, data])

    writer.set_ext_callback(GMCP, returned)
    writer.iac(WILL, GMCP)
    writer.write("Welcome to telnetlib3, Zoë.\r\n")
    while line := (await reader.readline()):
        line = line.rstrip("\r\n")
        tell(line=line)
        if line == "quit":
            break
        if line == "facts":
            tell(facts={name: writer.get_extra_info(name) for name in KNOWN})
        if line == "password":
            writer.iac(WILL, ECHO)
            writer.write("Password: ")
            tell(password=(await reader.readline()).rstrip("\r\n"))
            writer.iac(WONT, ECHO)
        if line == "prompt":
            writer.write("What now? ")
            writer.send_ga()
        writer.write(f"You say: {line}\r\n")
    writer.close()


async def main():
    server = await telnetlib3.create_server(
        host="127.0.0.1",
        port=int(sys.argv[1]),
        shell=shell,
        encoding=sys.argv[2],
        encoding_errors="replace",
        force_binary=True,
        line_mode=True,
        connect_maxwait=1.5,
    )
    tell(listening=True)
    await server.wait_closed()


asyncio.run(main())
