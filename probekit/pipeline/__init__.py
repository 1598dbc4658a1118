"""The stages joined: each reads files, writes files, and skips what is already done.

Contents: `describe` (pictures to texts), `extract` (texts to a store), `plan` (what that will cost),
`run` (the whole way), `folder` (where everything of a run lies).
"""
