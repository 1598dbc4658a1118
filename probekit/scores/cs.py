"""Competition Score: the answer given without a picture against the likeliest refusal."""

import math
from typing import Literal

import numpy as np
from jaxtyping import Float

from probekit.errors import InputError

Generated = Literal["blind", "full"]
"""Whose greedy answer competes: the one given to the replaced image (the default reading of the paper)
or the one given to the full image, scored under the replaced image."""


def cs(response: float, anchors: Float[np.ndarray, "anchor"]) -> float:
    """Competition Score, in nats per token. Tri-Layer Eq. 4; SPEC 4.2.

    With a greedy answer generated on the same input (``gen=blind``) the answer is close to the
    likeliest text there is, so the score is positive almost whatever the answer says, a refusal
    included (SPEC 4.3). Report it beside ``gen=full`` and beside refusals read from the text.

    Args:
        response: S(R | blind, Q), see `probekit.scores.lad.sequence_score`.
        anchors: S(a | blind, Q) of each refusal anchor.

    Returns:
        Response minus the best anchor; NaN when either is missing.

    Raises:
        InputError: there is no anchor.
    """
    if anchors.size == 0:
        raise InputError("no refusal anchor to compete with")
    if math.isnan(response) or np.isnan(anchors).any():
        return math.nan
    return float(response - anchors.astype(np.float64).max())
