"""Where activations are kept: HDF5 shards with a header and a manifest. The only folder that touches h5py."""

from probekit.store.background import BackgroundWriter
from probekit.store.codec import Bfloat16
from probekit.store.reader import Shard, Store
from probekit.store.schema import Header, row_shape
from probekit.store.table import RowTable
from probekit.store.writer import StoreWriter

__all__ = ["BackgroundWriter", "Bfloat16", "Header", "RowTable", "Shard", "Store", "StoreWriter", "row_shape"]
