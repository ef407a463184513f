"""A telnet client by telnetlib3, run by the Python that has it: telnetlib3_client.py PORT NAME COLUMNS ROWS.

It types what it is given, a line at a time, and prints what it reads, a JSON string a line.
"""

import asyncio
import json
import sys

import telnetlib3


async def type_lines(writer):
    while line := await asyncio.to_thread(sys.stdin.readline):
        writer.write(line.rstrip("\n") + "\r\n")
        await writer.drain()


async def main():
    port, name, columns, rows = sys.argv[1:]
    reader, writer = await telnetlib3.open_connection(
        "127.0.0.1",
        int(port),
        term=name,
        cols=int(columns),
        rows=int(rows),
        encoding="utf-8",
        force_binary=True,
        connect_maxwait=1.5,
    )
    typing = asyncio.create_task(type_lines(writer))
    while text := await reader.read(4096):
        print(json.dumps(text), flush=True)
    typing.cancel()
    print(json.dumps(None), flush=True)


asyncio.run(main())
