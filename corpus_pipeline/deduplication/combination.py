"""A hash over a set of records that is kept up to date record by record.

LtHash (Bellare, Micciancio: A new paradigm for collision-free hashing, 1997; Lewi, Kim, Maykov, Weis:
Securing update propagation with homomorphic hashing, 2019, with these parameters): each record is
expanded to 1,024 numbers of 16 bits, which are added up lane by lane. The sum depends on the records
alone, not on the order in which they came and went, and a changed record costs two additions
however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256, shake_256

import numpy as np
import numpy.typing as npt

__all__ = ["Combination"]

LANES = 1024


class Combination:
    """The sum over a set of records.

    Args:
        state: As :attr:`state` gave it; unset, that of the empty set.
    """

    def __init__(self, state: bytes | None = None) -> None:
        self._lanes: npt.NDArray[np.uint16] = (
            np.zeros(LANES, dtype=np.uint16) if state is None else np.frombuffer(state, dtype="<u2").astype(np.uint16)
        )

    def add(self, records: Iterable[bytes]) -> None:
        """Takes records in."""
        for record in records:
            self._lanes += _expanded(record)

    def remove(self, records: Iterable[bytes]) -> None:
        """Takes out records that are in."""
        for record in records:
            self._lanes -= _expanded(record)

    @property
    def state(self) -> bytes:
        """What to store, 2,048 bytes."""
        return self._lanes.astype("<u2").tobytes()

    @property
    def sha256(self) -> str:
        """Hash of the set."""
        return sha256(self.state).hexdigest()


def _expanded(record: bytes) -> npt.NDArray[np.uint16]:
    return np.frombuffer(shake_256(record).digest(2 * LANES), dtype="<u2").astype(np.uint16, copy=False)
