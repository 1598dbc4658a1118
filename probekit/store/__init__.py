"""Where activations are kept: HDF5 shards, a header, a manifest. The only folder that touches h5py."""

from probekit.store.background import BackgroundWriter
from probekit.store.codec import Bfloat16
from probekit.store.contents import Held, contents
from probekit.store.reader import Shard, Store
from probekit.store.schema import Header, row_shape
from probekit.store.table import RowTable
from probekit.store.verify import Finding, StoreReport, content_digest, verify
from probekit.store.writer import Beginning, StoreWriter, finished

__all__ = [
    "BackgroundWriter",
    "Beginning",
    "Bfloat16",
    "Finding",
    "Header",
    "Held",
    "RowTable",
    "Shard",
    "Store",
    "StoreReport",
    "StoreWriter",
    "content_digest",
    "contents",
    "finished",
    "row_shape",
    "verify",
]
