"""Where questions come from: every benchmark yields `Example`."""

from probekit.benchmarks.example import Example, Message, Part, Picture, Role, Text

__all__ = ["Example", "Message", "Part", "Picture", "Role", "Text"]
