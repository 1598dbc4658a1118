"""Opinions about texts, asked of rules, a model or an endpoint."""
