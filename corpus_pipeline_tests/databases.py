"""Databases on the server of the tests."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

__all__ = ["TEMPLATE", "fresh_database"]

TEMPLATE = "template_corpus"


@contextmanager
def fresh_database(server_url: str, *, template: str, prefix: str) -> Iterator[str]:
    """URL of a database of its own, made from a template and dropped afterwards."""
    name = f"{prefix}_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server_url.replace(f"/{TEMPLATE}", "/postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
    yield server_url.replace(f"/{TEMPLATE}", f"/{name}")
    with psycopg.connect(server_url.replace(f"/{TEMPLATE}", "/postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
