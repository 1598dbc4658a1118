"""The little a readout needs of a tokenizer, so that it works with any library's."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from probekit.errors import InputError


@runtime_checkable
class Tokenizer(Protocol):
    """Text to ids and back, adding no special tokens."""

    @property
    def name(self) -> str:
        """What an error and a table call it."""
        ...

    @property
    def size(self) -> int:
        """Number of ids, added tokens included."""
        ...

    def encode(self, text: str) -> Sequence[int]:
        """Ids of ``text``; no beginning or end token is added."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ``ids``, special tokens left out."""
        ...


@dataclass(frozen=True)
class FastTokenizer:
    """A tokenizer of the ``tokenizers`` library as a `Tokenizer`."""

    name: str
    inner: Any

    @classmethod
    def load(cls, path: Path) -> "FastTokenizer":
        """Read a ``tokenizer.json``, or the one in a model's folder.

        Raises:
            InputError: there is no such file, or it is not a tokenizer.
        """
        from tokenizers import Tokenizer as Inner

        file = path / "tokenizer.json" if path.is_dir() else path
        if not file.is_file():
            raise InputError("no such tokenizer file", where=str(file), hint="A tokenizer.json is needed.")
        try:
            inner = Inner.from_file(str(file))
        except Exception as error:
            raise InputError(f"not a tokenizer: {error}", where=str(file)) from None
        return cls(file.parent.name or file.stem, inner)

    @property
    def size(self) -> int:
        """Number of ids, added tokens included."""
        return int(self.inner.get_vocab_size(with_added_tokens=True))

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of ``text`` without special tokens."""
        return tuple(self.inner.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ``ids`` without special tokens."""
        return str(self.inner.decode(list(ids), skip_special_tokens=True))
