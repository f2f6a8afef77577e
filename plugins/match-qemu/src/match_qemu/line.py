"""A serial line: bytes with time limits, and frames with a checksum (c/serial.c describes them)."""

from __future__ import annotations

import os
import select
import socket
import struct
import time
import zlib
from dataclasses import dataclass
from typing import Protocol

from match_core.contract.errors import ToolError, UsageError

#: A frame's bytes arrive within this after its first one, at 9600 bits per second for a megabyte (an estimate).
_FRAME_SECONDS = 1200.0
_KINDS = b"HNOTFZ"
#: No frame from a board is longer.
_MOST_BYTES = 1 << 28


class Line(Protocol):
    """Bytes to and from a board."""

    name: str

    def write(self, data: bytes) -> None:
        """Send all bytes."""

    def read(self, seconds: float) -> bytes:
        """What has arrived, at the latest after this time; empty if nothing has."""

    def close(self) -> None:
        """Give the line back."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole frame of one ``kind``; ``payload`` is empty and ``damaged`` true if its checksum is wrong."""

    kind: str
    payload: bytes
    damaged: bool = False


def frame_bytes(kind: str, payload: bytes = b"") -> bytes:
    """A frame for the line."""
    body = kind.encode() + struct.pack("<I", len(payload)) + payload
    return b"M" + body + struct.pack("<I", zlib.crc32(body))


class Frames:
    """The frames that arrive from a line; bytes between frames, such as messages of a boot loader, are skipped."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._rest = bytearray()

    def next(self, seconds: float) -> Frame | None:
        """The next frame, None if none begins within this time."""
        end = time.monotonic() + seconds
        while (begin := self._begin()) is None:
            if not self._more(end):
                return None
        del self._rest[:begin]
        end = time.monotonic() + _FRAME_SECONDS
        kind, (length,) = chr(self._rest[1]), struct.unpack("<I", self._rest[2:6])
        while len(self._rest) < length + 10:
            if not self._more(min(end, time.monotonic() + 10)):  # the line fell silent
                self._rest.clear()
                return Frame(kind, b"", damaged=True)
        body, checksum = bytes(self._rest[1 : length + 6]), bytes(self._rest[length + 6 : length + 10])
        if struct.pack("<I", zlib.crc32(body)) != checksum:
            del self._rest[:1]
            return Frame(kind, b"", damaged=True)
        del self._rest[: length + 10]
        return Frame(kind, body[5:])

    def _begin(self) -> int | None:
        """Where a frame may begin, once its head has arrived."""
        place = self._rest.find(b"M")
        while place >= 0 and place + 6 <= len(self._rest):
            (length,) = struct.unpack("<I", self._rest[place + 2 : place + 6])
            if self._rest[place + 1] in _KINDS and length <= _MOST_BYTES:
                return place
            place = self._rest.find(b"M", place + 1)
        return None

    def _more(self, end: float) -> bool:
        data = self._line.read(max(0.0, end - time.monotonic()))
        self._rest += data
        return bool(data)


def open_line(port: str, baud: int) -> Line:
    """The line at a device, or ``tcp:HOST:PORT``. UsageError MATCH-U103 if it cannot be opened."""
    try:
        if port.startswith("tcp:"):
            host, _, number = port.removeprefix("tcp:").rpartition(":")
            return _Socket(port, socket.create_connection((host, int(number)), timeout=10))
        return _Device(port, baud)
    except (OSError, ValueError, ImportError, AttributeError) as error:
        raise UsageError(
            code="MATCH-U103",
            what="the serial line cannot be opened",
            where=f"option --port {port[:200]}",
            why=str(error),
            help=("name the device of the board, such as /dev/ttyACM0", "or tcp:HOST:PORT"),
        ) from error


class _Device:
    """A terminal device in raw mode."""

    def __init__(self, name: str, baud: int) -> None:
        import termios  # not on every system

        self.name = name
        self._file = os.open(name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        speed = getattr(termios, f"B{baud}")
        flags = termios.CS8 | termios.CREAD | termios.CLOCAL
        controls = [b"\0"] * len(termios.tcgetattr(self._file)[6])
        termios.tcsetattr(self._file, termios.TCSANOW, [0, 0, flags, 0, speed, speed, controls])
        termios.tcflush(self._file, termios.TCIOFLUSH)

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            _, ready, _ = select.select([], [self._file], [], 30)
            if not ready:
                raise broken(self.name, "it takes no bytes for 30 s")
            try:
                rest = rest[os.write(self._file, rest) :]
            except OSError as error:
                raise broken(self.name, str(error)) from error

    def read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self._file], [], [], seconds)
        try:
            return os.read(self._file, 65536) if ready else b""
        except OSError as error:
            raise broken(self.name, str(error)) from error

    def close(self) -> None:
        os.close(self._file)


CLOSED = "the other side closed it"


class _Socket:
    """A line behind a network socket."""

    def __init__(self, name: str, connection: socket.socket) -> None:
        self.name = name
        self._socket = connection
        connection.settimeout(30)

    def write(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except ConnectionError as error:
            raise broken(self.name, CLOSED) from error
        except OSError as error:
            raise broken(self.name, str(error)) from error

    def read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self._socket], [], [], seconds)
        if not ready:
            return b""
        try:
            data = self._socket.recv(65536)
        except ConnectionError:  # closed while bytes were on their way
            data = b""
        if not data:
            raise broken(self.name, CLOSED)
        return data

    def close(self) -> None:
        self._socket.close()


def broken(name: str, why: str) -> ToolError:
    """The line fails, or the board does not answer."""
    return ToolError(
        code="MATCH-T014",
        what="the board does not answer",
        where=f"serial line {name}",
        why=why,
        help=("check the cable, --baud and that the program was flashed", "reset the board and run again"),
    )
