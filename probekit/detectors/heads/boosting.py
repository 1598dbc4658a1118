"""Gradient-boosted trees, MetaToken's second classifier. SPEC 1.6. Kept as plain arrays, never pickled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probekit.detectors.heads.base import Problem, Solution, Weights, require_two_classes, sigmoid


@dataclass(frozen=True)
class Boosting:
    """scikit-learn's GradientBoostingClassifier with its defaults.

    Attributes:
        trees: boosting rounds.
        depth: depth of a tree.
        learning_rate: shrinkage.
    """

    trees: int = 100
    depth: int = 3
    learning_rate: float = 0.1

    def fit(self, x: Float[np.ndarray, "row dim"], problems: Sequence[Problem]) -> Iterator[Solution]:
        """Fit one ensemble a problem; `NotFittableError` when one has a single class."""
        for problem in problems:
            require_two_classes(problem)
        for problem in problems:
            yield self._fit(x, problem)

    def _fit(self, x: np.ndarray, problem: Problem) -> Solution:
        from sklearn.ensemble import GradientBoostingClassifier

        model = GradientBoostingClassifier(
            n_estimators=self.trees,
            max_depth=self.depth,
            learning_rate=self.learning_rate,
            random_state=problem.seed,
        ).fit(x[problem.rows].astype(np.float32), problem.y)
        trees = [tree.tree_ for tree in model.estimators_[:, 0]]
        nodes = max(tree.node_count for tree in trees)
        weights = {name: np.zeros((len(trees), nodes), kind) for name, kind in _TREE.items()}
        for at, tree in enumerate(trees):
            weights["left"][at, : tree.node_count] = tree.children_left
            weights["right"][at, : tree.node_count] = tree.children_right
            weights["column"][at, : tree.node_count] = tree.feature
            weights["threshold"][at, : tree.node_count] = tree.threshold
            weights["value"][at, : tree.node_count] = self.learning_rate * tree.value[:, 0, 0]
        share = float(problem.y.mean())
        weights["prior"] = np.asarray([np.log(share / (1 - share))])
        return Solution(weights, {"trees": len(trees)})

    def score(self, weights: Weights, x: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " row"]:
        """P(hallucinated)."""
        values = x.astype(np.float32)
        logits = np.full(len(x), float(weights["prior"][0]))
        everyone = np.arange(len(x))
        for at in range(len(weights["left"])):
            node = np.zeros(len(x), dtype=np.int64)
            for _ in range(self.depth):
                inner = weights["left"][at, node] >= 0
                column = np.where(inner, weights["column"][at, node], 0)
                goes_left = values[everyone, column] <= weights["threshold"][at, node]
                child = np.where(goes_left, weights["left"][at, node], weights["right"][at, node])
                node = np.where(inner, child, node)
            logits += weights["value"][at, node]
        return sigmoid(logits)


_TREE = {
    "left": np.int64,
    "right": np.int64,
    "column": np.int64,
    "threshold": np.float64,
    "value": np.float64,
}
