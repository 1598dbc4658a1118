"""Opinions about texts and pictures, asked of rules, a model or an endpoint.

`rules.usage` judges one mention by itself, offline. `usage.ModelUsageJudge` asks any `base.Judge`:
`endpoint.EndpointJudge`, `hf.HuggingFaceJudge`, `recorded.RecordedJudge`, each of which `cache.CachedJudge`
makes remember. `ghost` asks a judge that sees about the pictures of a Ghost set. Any other judged benchmark
fills a prompt, asks with `base.read_answers` and reads the answers itself.
"""
