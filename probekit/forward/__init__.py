"""The only folder that runs a model: generation, teacher-forced traces, attention rows, reductions."""
