"""The frame of PostgreSQL's binary COPY."""

from __future__ import annotations

import struct

__all__ = ["COPY_END", "COPY_START"]

COPY_START = b"PGCOPY\n\xff\r\n\x00" + struct.pack(">ii", 0, 0)
COPY_END = struct.pack(">h", -1)
