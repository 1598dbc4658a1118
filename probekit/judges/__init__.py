"""Opinions about texts, asked of rules, a model or an endpoint.

`rules.usage` judges one mention by itself, offline. `usage.ModelUsageJudge` asks any `base.Judge`:
`endpoint.EndpointJudge`, `hf.HuggingFaceJudge`, `recorded.RecordedJudge`, each of which `cache.CachedJudge`
makes remember. Any other judged benchmark fills a prompt, asks with `base.read_answers` and reads the answers
itself.
"""
