"""Each benchmark's own arithmetic, one page each; they ask no model.

`chair` and `throne` read captions, `pope` yes/no answers, `rates` the H-Rate and H-Score of Ghost-100,
`deflection` the three outcomes of VLM-DeflectionBench; `estimates` gives them their intervals.
"""
