"""Statements for a Postgres of a test."""

import socket
import struct
import urllib.parse


def query(address, name, statement):
    """Carries out a statement, over the database's own protocol: no driver is needed for this. Gives the first column of the rows."""
    url = urllib.parse.urlsplit(address)
    folder = urllib.parse.parse_qs(url.query).get("host", [None])[0]
    with socket.socket(socket.AF_UNIX if folder else socket.AF_INET) as wire:
        wire.connect(f"{folder}/.s.PGSQL.{url.port or 5432}" if folder else (url.hostname, url.port or 5432))
        stream = wire.makefile("rb")

        def until_ready():
            rows = []
            while True:
                kind, length = stream.read(1), struct.unpack("!i", stream.read(4))[0]
                part = stream.read(length - 4)
                if kind == b"E":
                    raise SystemExit(part.decode(errors="replace"))
                if kind == b"D":
                    size = struct.unpack("!i", part[2:6])[0]
                    rows.append(None if size < 0 else part[6 : 6 + size].decode())
                if kind == b"Z":
                    return rows

        begin = struct.pack("!i", 196608) + f"user\0{url.username or 'postgres'}\0database\0{name}\0\0".encode()
        wire.sendall(struct.pack("!i", len(begin) + 4) + begin)
        until_ready()
        text = statement.encode() + b"\0"
        wire.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)
        return until_ready()
