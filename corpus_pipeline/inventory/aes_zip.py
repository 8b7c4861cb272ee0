"""Members of ZIP files encrypted with AES, as WinZip and 7-Zip write them.

Source of the format: WinZip, "AES Encryption Information: Encryption Specification AE-1 and AE-2".
The whole packed member is checked against its authentication code before any of it is unpacked.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason

__all__ = ["AES_METHOD", "open_encrypted"]

AES_METHOD = 99
_EXTRA_ID = 0x9901
_LOCAL_HEADER = struct.Struct("<26xHH")
_KEY_BYTES = {1: 16, 2: 24, 3: 32}
_ITERATIONS = 1000
_CHECK_BYTES = 2
_CODE_BYTES = 10
_BLOCK = 16
_BLOCKS_AT_ONCE = 4096


def open_encrypted(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, password: str) -> IO[bytes]:
    """Opens a member.

    Raises:
        ConversionError: ``encrypted`` when the password is wrong, ``corrupt`` when the bytes are
            not those that were encrypted, ``unsupported`` for a method other than stored and deflated.
    """
    strength, method = _parameters(entry)
    if method not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise NotImplementedError
    payload = _payload(archive, entry)
    key_bytes = _KEY_BYTES[strength]
    salt, check = payload[: key_bytes // 2], payload[key_bytes // 2 : key_bytes // 2 + _CHECK_BYTES]
    keys = hashlib.pbkdf2_hmac("sha1", password.encode(), salt, _ITERATIONS, 2 * key_bytes + _CHECK_BYTES)
    if not hmac.compare_digest(keys[-_CHECK_BYTES:], check):
        raise ConversionError(
            "it is encrypted, and conversion.password is not its password",
            reason=QuarantineReason.ENCRYPTED,
            remedy="Set conversion.password of the corpus to its password, or pack it again without one.",
        )
    packed = payload[key_bytes // 2 + _CHECK_BYTES : -_CODE_BYTES]
    code = hmac.new(keys[key_bytes : 2 * key_bytes], packed, "sha1").digest()[:_CODE_BYTES]
    if not hmac.compare_digest(code, payload[-_CODE_BYTES:]):
        raise zipfile.BadZipFile("authentication code")
    chunks = _decrypted(packed, keys[:key_bytes])
    return io.BufferedReader(_Chunks(chunks if method == zipfile.ZIP_STORED else _inflated(chunks)))


def _parameters(entry: zipfile.ZipInfo) -> tuple[int, int]:
    extra = entry.extra
    while len(extra) >= 4:  # noqa: PLR2004 - identifier and size
        identifier, size = struct.unpack("<HH", extra[:4])
        if identifier == _EXTRA_ID and size >= 7 and extra[8] in _KEY_BYTES:  # noqa: PLR2004 - as specified
            return extra[8], struct.unpack("<H", extra[9:11])[0]
        extra = extra[4 + size :]
    raise zipfile.BadZipFile("no AES parameters")


def _payload(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    stream = archive.fp
    if stream is None:
        raise zipfile.BadZipFile("closed")
    stream.seek(entry.header_offset)
    header = stream.read(30)
    name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
    stream.seek(name_bytes + extra_bytes, 1)
    payload = stream.read(entry.compress_size)
    if len(payload) < entry.compress_size or len(payload) < 2 * _BLOCK - 4:
        raise EOFError
    return payload


def _decrypted(packed: bytes, key: bytes) -> Iterator[bytes]:
    """AES in counter mode with a little-endian counter that begins at 1."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    # Each block of the key stream is one counter, encrypted by itself; ECB is how to ask for that.
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
    step = _BLOCK * _BLOCKS_AT_ONCE
    for start in range(0, len(packed), step):
        part = packed[start : start + step]
        first = start // _BLOCK + 1
        counters = b"".join(
            number.to_bytes(_BLOCK, "little") for number in range(first, first + -(-len(part) // _BLOCK))
        )
        stream = encryptor.update(counters)[: len(part)]
        yield (int.from_bytes(part, "little") ^ int.from_bytes(stream, "little")).to_bytes(len(part), "little")


def _inflated(chunks: Iterator[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for chunk in chunks:
        waiting = chunk
        while waiting:
            yield inflater.decompress(waiting, 1 << 20)
            waiting = inflater.unconsumed_tail
    yield inflater.flush()


class _Chunks(io.RawIOBase):
    """A stream over chunks that are made as they are read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # a buffer is what is given
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
