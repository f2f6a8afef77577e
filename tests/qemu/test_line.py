"""Frames over a serial line: whole, damaged, cut, and between other bytes."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.contract.errors import MatchError
from match_qemu.line import Frame, Frames, frame_bytes, open_line


class Recorded:
    """A line on which these pieces arrive, and then nothing."""

    name = "recorded"

    def __init__(self, *pieces: bytes) -> None:
        self._pieces: Iterator[bytes] = iter(pieces)

    def write(self, data: bytes) -> None:
        raise AssertionError(data)

    def read(self, seconds: float) -> bytes:
        return next(self._pieces, b"")

    def close(self) -> None:
        pass


def _all(*pieces: bytes) -> list[Frame]:
    frames, found = Frames(Recorded(*pieces)), []
    while (frame := frames.next(1)) is not None:
        found.append(frame)
    return found


def test_frames_between_other_bytes() -> None:
    """A boot loader talks, with the letter that begins frames too."""
    sent = b"MMBoot M\r\n" + frame_bytes("H", b"1234") + b"\r\nM" + frame_bytes("O", b"") + b"M"
    whole = [Frame("H", b"1234"), Frame("O", b"")]
    assert _all(sent) == whole
    assert _all(*(sent[i : i + 1] for i in range(len(sent)))) == whole


@given(payload=st.binary(max_size=40), place=st.integers(0, 99), bit=st.integers(0, 7))
def test_a_changed_byte_is_noticed(payload: bytes, place: int, bit: int) -> None:
    """No payload arrives that was not sent."""
    sent, last = frame_bytes("O", payload), frame_bytes("Z", b"last")
    place %= len(sent)
    changed = sent[:place] + bytes([sent[place] ^ (1 << bit)]) + sent[place + 1 :]
    arrived = [frame for frame in _all(changed, last) if not frame.damaged]
    assert all(frame.payload in (payload, b"last") for frame in arrived)


def test_a_line_that_falls_silent_in_a_frame() -> None:
    assert _all(frame_bytes("O", b"12345678")[:-3]) == [Frame("O", b"", damaged=True)]


def test_a_socket_is_a_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = open_line(f"tcp:127.0.0.1:{server.getsockname()[1]}", 115200)
        other, _ = server.accept()
        line.write(b"abc")
        assert other.recv(10) == b"abc"
        assert line.read(0.01) == b""
        other.sendall(frame_bytes("T", b"hello"))
        assert Frames(line).next(5) == Frame("T", b"hello")
        other.close()
        with pytest.raises(MatchError, match="MATCH-T014"):
            line.read(5)
        line.close()


@pytest.mark.parametrize("port", ["/dev/there_is_no_such_line", "tcp:127.0.0.1:x", "tcp:127.0.0.1:1"])
def test_lines_that_cannot_be_opened(port: str) -> None:
    with pytest.raises(MatchError, match="MATCH-U103"):
        open_line(port, 115200)
