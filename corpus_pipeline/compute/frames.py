"""Messages between processes: a JSON head and a payload of bytes, each with its length before it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

__all__ = ["FrameBuffer", "pack_frame", "read_frame"]

_LENGTHS = struct.Struct(">IQ")
Frame = tuple[dict[str, Any], bytes]


def pack_frame(head: dict[str, Any], payload: bytes = b"") -> bytes:
    """One message as bytes.

    >>> buffer = FrameBuffer(); buffer.feed(pack_frame({"a": 1}, b"xy")); next(buffer.frames())
    ({'a': 1}, b'xy')
    """
    encoded = json.dumps(head).encode()
    return _LENGTHS.pack(len(encoded), len(payload)) + encoded + payload


def read_frame(stream: BinaryIO) -> Frame | None:
    """The next message of a blocking stream, ``None`` at its end or when it breaks off."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_length, payload_length = _LENGTHS.unpack(lengths)
    head = stream.read(head_length)
    payload = stream.read(payload_length)
    if len(head) < head_length or len(payload) < payload_length:
        return None
    return json.loads(head), payload


class FrameBuffer:
    """Collects bytes as they arrive and gives whole messages."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        """Adds bytes."""
        self._data += data

    def frames(self) -> Iterator[Frame]:
        """The messages that are complete; each is given once."""
        while len(self._data) >= _LENGTHS.size:
            head_length, payload_length = _LENGTHS.unpack_from(self._data)
            end = _LENGTHS.size + head_length + payload_length
            if len(self._data) < end:
                return
            head = bytes(self._data[_LENGTHS.size : _LENGTHS.size + head_length])
            payload = bytes(self._data[_LENGTHS.size + head_length : end])
            del self._data[:end]
            yield json.loads(head), payload
