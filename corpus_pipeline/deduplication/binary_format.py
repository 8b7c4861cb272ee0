"""PostgreSQL's binary forms of many integers at once, made by numpy instead of value by value."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np
from psycopg.adapt import Dumper
from psycopg.pq import Format

from corpus_pipeline.deduplication.kernels import Int64
from corpus_pipeline.store import Connection

__all__ = ["Bigints", "copy_bigint_pairs", "copy_rows", "pass_bigints"]

_BIGINT_OID = 20
_BIGINT_ARRAY_OID = 1016
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">i8")])
_ROW = np.dtype([("columns", ">i2"), ("size1", ">i4"), ("first", ">i8"), ("size2", ">i4"), ("second", ">i8")])
_COPY_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_COPY_END = b"\xff\xff"


class Bigints:
    """A query parameter of type ``bigint[]``."""

    def __init__(self, values: Int64) -> None:
        self.values = values


class _BigintsDumper(Dumper):
    """One dimension, no nulls, lower bound 1, then length and value of each element."""

    format = Format.BINARY
    oid = _BIGINT_ARRAY_OID

    def dump(self, obj: Bigints) -> bytes:
        size = obj.values.size
        if not size:
            return struct.pack("!iii", 0, 0, _BIGINT_OID)
        elements = np.empty(size, dtype=_ELEMENT)
        elements["size"], elements["value"] = 8, obj.values
        return struct.pack("!iiiii", 1, 0, _BIGINT_OID, size, 1) + elements.tobytes()


def pass_bigints(connection: Connection) -> None:
    """Lets queries of this connection take :class:`Bigints`."""
    connection.adapters.register_dumper(Bigints, _BigintsDumper)


def copy_bigint_pairs(connection: Connection, statement: str, first: Int64, second: Int64) -> None:
    """Binary COPY of two bigint columns, sorted, which keeps the index pages in cache.

    Args:
        connection: In the caller's transaction.
        statement: ``COPY … FROM STDIN (FORMAT BINARY)`` of two bigint columns.
        first: Values of the first column.
        second: Values of the second, as many.
    """
    order = np.lexsort((second, first))
    rows = np.empty(first.size, dtype=_ROW)
    rows["columns"], rows["size1"], rows["size2"] = 2, 8, 8
    rows["first"], rows["second"] = first[order], second[order]
    with connection.cursor().copy(statement) as copy:
        copy.write(_COPY_HEADER)
        copy.write(rows.tobytes())
        copy.write(_COPY_END)


def copy_rows(connection: Connection, statement: str, rows: Iterable[tuple[bytes, ...]]) -> None:
    """Binary COPY of rows whose values are in PostgreSQL's binary form already: text and bytea are their bytes.

    Args:
        connection: In the caller's transaction.
        statement: ``COPY … FROM STDIN (FORMAT BINARY)``.
        rows: Values without nulls, as many in each row.
    """
    with connection.cursor().copy(statement) as copy:
        copy.write(_COPY_HEADER)
        for row in rows:
            fields = [struct.pack("!h", len(row))]
            for value in row:
                fields += (struct.pack("!i", len(value)), value)
            copy.write(b"".join(fields))
        copy.write(_COPY_END)
