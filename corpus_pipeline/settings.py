"""Settings from the environment: where things are, not what the corpora are.

All variables start with ``CORPUS_``; ``docs/configuration.md`` lists them.
"""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from corpus_pipeline.errors import SettingsError

__all__ = ["Settings", "load_settings"]


def _default_config() -> Path:
    """``corpora.yaml`` here; in a checkout that has none of its own, the one of the examples."""
    own, examples = Path("corpora.yaml"), Path("examples/corpora.yaml")
    return examples if examples.is_file() and not own.exists() else own


class Settings(BaseSettings):
    """Where the registry, the state and the database are.

    Attributes:
        config: ``CORPUS_CONFIG``, path of corpora.yaml; unset, the one in the working folder, or that of
            the examples in a checkout without one.
        home: ``CORPUS_HOME``, the state folder; unset, ``.corpus`` beside corpora.yaml.
        database_url: ``CORPUS_DATABASE_URL``, a PostgreSQL URL; unset, the embedded server.
        embedded_postgres_version: ``CORPUS_EMBEDDED_POSTGRES_VERSION``, for a new embedded database.
        workers: ``CORPUS_WORKERS``, worker processes for conversion and signatures; 0 is one per core.
        as_of: ``CORPUS_AS_OF``, the day decisions are made for; unset, today in UTC.
        pool_size: ``CORPUS_POOL_SIZE``, most database connections of one process.
    """

    model_config = SettingsConfigDict(env_prefix="CORPUS_", extra="ignore", frozen=True)

    config: Path = Field(default_factory=_default_config)
    home: Path | None = None
    database_url: SecretStr | None = None
    embedded_postgres_version: Literal[16, 18] = 18
    workers: Annotated[int, Field(ge=0, le=256)] = 0
    as_of: date | None = None
    pool_size: Annotated[int, Field(ge=2, le=200)] = 8

    @cached_property
    def state_folder(self) -> Path:
        """The state folder as an absolute path; it may not exist yet."""
        return (self.home or self.config.absolute().parent / ".corpus").absolute()

    @property
    def worker_count(self) -> int:
        """Number of worker processes, at least 1."""
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return self.workers or available or 1

    @property
    def decision_date(self) -> date:
        """``as_of`` or today in UTC."""
        return self.as_of or datetime.now(UTC).date()


def load_settings(**overrides: object) -> Settings:
    """Reads the environment; keyword arguments win over it, ``None`` means not given.

    Raises:
        SettingsError: A variable has a value that cannot be used; all of them are named.
    """
    given = {key: value for key, value in overrides.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        lines = [
            f"CORPUS_{'_'.join(str(part) for part in fault['loc']).upper()}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False)
        ]
        raise SettingsError(
            "the environment cannot be used:\n" + "\n".join(lines),
            remedy="Correct or unset the variables named above.",
        ) from error
