"""Ghost-100's validation of a set of pictures, asked of a judge that sees them (paper section 3.9).

`scenarios` is what the judge is told, `quality`, `compliance` and `clusters` are the three stages, `stages`
runs them and writes the records that `probekit.benchmarks.ghost_records` reads. A judge only gives answers;
every decision is made from the records by `probekit.benchmarks.ghost_validate`.
"""
