"""URLs: no password reaches a message, and what cannot be used is refused with the way to write it."""

from __future__ import annotations

import psycopg
import pytest
from pydantic import SecretStr

from corpus_pipeline.errors import (
    DatabaseAuthenticationError,
    DatabaseUnreachableError,
    DiskFullError,
    StoreError,
)
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import database_url, safe_url, translate_errors

SECRET = "hush"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:hush@db:5432/corpus", "postgresql://u@db:5432/corpus"),
        ("postgresql://u:hush@db/corpus?sslmode=require", "postgresql://u@db/corpus?sslmode=require"),
        (
            "postgresql://u@db/corpus?password=hush&sslmode=require",
            "postgresql://u@db/corpus?password=…&sslmode=require",
        ),
        ("postgresql://u@db/corpus?sslpassword=hush", "postgresql://u@db/corpus?sslpassword=…"),
        ("postgresql://:hush@db/corpus", "postgresql://@db/corpus"),
        ("postgresql://u:x@hush@db/corpus", "postgresql://u@db/corpus"),
        ("postgresql://u:x/hush@db/corpus", "postgresql://u@db/corpus"),
        ("postgresql://u:x?hush@db/corpus", "postgresql://u@db/corpus"),
        ("postgresql://u:x:hush@db/corpus", "postgresql://u@db/corpus"),
        ("postgresql://u:hush%40@db/corpus", "postgresql://u@db/corpus"),
        ("postgresql+psycopg://u:hush@db/corpus", "postgresql+psycopg://u@db/corpus"),
    ],
)
def test_the_password_is_not_shown(url: str, shown: str) -> None:
    assert safe_url(url) == shown
    assert SECRET not in safe_url(url)


@pytest.mark.parametrize(
    "url",
    ["postgresql://u@db/corpus", "postgresql://db:5432/corpus", "postgresql://postgres:@/corpus?host=/tmp/x"],
)
def test_a_url_without_password_stays_readable(url: str) -> None:
    assert safe_url(url) == url.replace(":@", "@")


def _settings(url: str) -> Settings:
    return Settings(database_url=SecretStr(url))


@pytest.mark.parametrize("url", ["postgresql://u:hush@db:5432/corpus", "postgres://u:a%40b@h1,h2/corpus"])
def test_a_usable_url_is_taken_as_it_is(url: str) -> None:
    assert database_url(_settings(url)) == url


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("mysql://u:hush@db/corpus", "'mysql'"),
        ("sqlite:///hush.db", "'sqlite'"),
        ("host=db password=hush", "no scheme"),
        ("", "no scheme"),
    ],
)
def test_another_kind_of_url_is_refused_by_its_scheme(url: str, found: str) -> None:
    with pytest.raises(DatabaseUnreachableError, match=found) as caught:
        database_url(_settings(url))
    assert "postgresql://USER:PASSWORD@HOST" in caught.value.remedy
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["postgresql://u:hu%sh@db/corpus", "postgresql://u:a@hush@db/corpus", "postgresql://u:hush@db/corpus?nonsense=1"],
)
def test_a_url_that_cannot_be_read_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(DatabaseUnreachableError, match="cannot be read") as caught:
        database_url(_settings(url))
    assert "percent-encoded" in caught.value.remedy
    assert "hush" not in str(caught.value)
    assert "hu%sh" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("message", "kind", "remedy"),
    [
        ('FATAL:  password authentication failed for user "u"', DatabaseAuthenticationError, "user and password"),
        ("fe_sendauth: no password supplied", DatabaseAuthenticationError, "user and password"),
        (
            'FATAL:  no pg_hba.conf entry for host "10.0.0.9", user "u"',
            DatabaseAuthenticationError,
            "user and password",
        ),
        ('FATAL:  role "u" does not exist', DatabaseAuthenticationError, "user and password"),
        ('FATAL:  database "corpus" does not exist', DatabaseUnreachableError, "createdb"),
        ('FATAL:  database "role_corpus" does not exist', DatabaseUnreachableError, "createdb"),
        ('could not write to file "base/1": No space left on device', DiskFullError, "Free space"),
        ("connection refused", DatabaseUnreachableError, "Start the server"),
    ],
)
def test_what_a_server_says_at_login_is_told_apart(message: str, kind: type[StoreError], remedy: str) -> None:
    with pytest.raises(StoreError) as caught, translate_errors("postgresql://u:hush@db/corpus"):
        raise psycopg.OperationalError(message)
    assert type(caught.value) is kind
    assert remedy in caught.value.remedy
    assert SECRET not in str(caught.value)
    assert isinstance(caught.value.__cause__, psycopg.OperationalError)


def test_errors_of_others_pass_unchanged() -> None:
    with pytest.raises(ValueError, match="mine"), translate_errors():
        raise ValueError("mine")
