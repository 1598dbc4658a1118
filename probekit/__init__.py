"""probekit: does a vision-language model see what it says, and can its insides tell when it does not?"""

from probekit.errors import (
    ContractError,
    FamilyError,
    InputError,
    ProbekitError,
    StoreError,
    UnservedError,
)
from probekit.rows import RowKey, RowKind

__all__ = [
    "ContractError",
    "FamilyError",
    "InputError",
    "ProbekitError",
    "RowKey",
    "RowKind",
    "StoreError",
    "UnservedError",
    "__version__",
]

__version__ = "0.1.0"
