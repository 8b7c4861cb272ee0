"""Bytes to text: byte-order marks, UTF-8, then statistics, and never an exception."""

from __future__ import annotations

import codecs
import re

__all__ = ["clean_text", "decode_text", "looks_like_text"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufeff]")
_HIGH = bytes(range(128, 256))
_TELLING_BYTES = 20
"""Fewer bytes outside ASCII say nothing about an encoding; the commonest is taken."""
_STATISTICS_BYTES = 262_144
_SAMPLE_BYTES = 4096


def looks_like_text(data: bytes) -> bool:
    r"""Whether bytes are text in some encoding, by control bytes and marks.

    >>> looks_like_text(b"abc\n"), looks_like_text(b"\x00\x01\x02\x03"), looks_like_text("é".encode("utf-16"))
    (True, False, True)
    """
    if any(data.startswith(mark) for mark, _ in _MARKS) or _wide_encoding(data):
        return True
    controls = len(data) - len(data.translate(None, _CONTROLS))
    return controls <= len(data) * 0.002


def decode_text(data: bytes, *, whole: bool = True) -> str:
    r"""Text of a file with ``\n`` line ends and without byte-order mark.

    Args:
        data: The bytes.
        whole: False when the data may end within a character.

    >>> decode_text(b"\xef\xbb\xbfa\r\nb")
    'a\nb'
    """
    return _decode(data, whole=whole).replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes, *, whole: bool) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    wide = _wide_encoding(data)
    if wide:
        return data.decode(wide, "replace")
    try:
        return codecs.getincrementaldecoder("utf-8")("strict").decode(data, final=whole)
    except UnicodeDecodeError:
        return data.decode(_guess(data), "replace")


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 and UTF-32 without mark, told by where their zero bytes are."""
    sample = data[:_SAMPLE_BYTES]
    if len(sample) < 8 or sample.count(0) < len(sample) // 4:  # noqa: PLR2004
        return None
    shares = [sample[offset::4].count(0) / max(1, len(sample[offset::4])) for offset in range(4)]
    high, low = 0.8, 0.2
    if shares[0] < low and min(shares[1:]) > high:
        return "utf-32-le"
    if shares[3] < low and min(shares[:3]) > high:
        return "utf-32-be"
    if max(shares[0], shares[2]) < low and min(shares[1], shares[3]) > high:
        return "utf-16-le"
    if max(shares[1], shares[3]) < low and min(shares[0], shares[2]) > high:
        return "utf-16-be"
    return None


def _guess(data: bytes) -> str:
    foreign = len(data) - len(data.translate(None, _HIGH))
    if foreign < _TELLING_BYTES:
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_STATISTICS_BYTES]).best()
    return best.encoding if best else "cp1252"


def clean_text(text: str) -> str:
    r"""Text that a database and a terminal can hold: no NUL, control characters or lone surrogates.

    >>> clean_text("a\x00b\x1b[0m\tc")
    'ab[0m\tc'
    """
    return _UNWANTED.sub("", text)
