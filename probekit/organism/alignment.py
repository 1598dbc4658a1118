"""The patch loss: an image token points at the words for what its patch shows.

Category, column and kind are read from the cosine between a projected patch and the language
model's own word vectors, so the projector speaks the language model's language from the start.
"""

import random

import torch
from jaxtyping import Float, Int64
from torch.nn import functional
from transformers import LlavaForConditionalGeneration, PreTrainedTokenizerFast

from probekit.organism.examples import Pool
from probekit.organism.scenes import PATCHES
from probekit.organism.settings import Settings
from probekit.organism.vocabulary import CATEGORIES

SHARPNESS = 12.0
"""Factor on cosines before the softmax."""

_PLACE_WORDS = (" left", " middle", " right")
_KIND_WORDS = (" image", " There", " picture", " possibly")
_KIND_WEIGHTS = (0.4, 1.0, 1.0, 1.5)
_PLACE_SHARE, _KIND_SHARE = 0.5, 0.7


class PatchLoss:
    """Scores projected patches against words, given patch labels."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        def first(words: tuple[str, ...]) -> Int64[torch.Tensor, " word"]:
            ids = [tokenizer(w, add_special_tokens=False).input_ids[0] for w in words]
            if len(set(ids)) != len(ids):
                raise ValueError(f"two of {words} begin with the same token")
            return torch.tensor(ids)

        self.categories = first(tuple(" " + c for c in CATEGORIES))
        self.places = first(_PLACE_WORDS)
        self.kinds = first(_KIND_WORDS)
        self.columns = torch.arange(PATCHES**2) % PATCHES // 2

    def __call__(
        self,
        projected: Float[torch.Tensor, "image 36 width"],
        words: Float[torch.Tensor, "token width"],
        category: Int64[torch.Tensor, "image 36"],
        kind: Int64[torch.Tensor, "image 36"],
    ) -> tuple[Float[torch.Tensor, ""], float]:
        """Return the loss, and the share of labelled patches whose category comes out right."""
        unit = functional.normalize(projected, dim=-1)
        vectors = functional.normalize(words, dim=-1)
        labelled = category >= 0
        by_category = SHARPNESS * (unit @ vectors[self.categories].T)[labelled]
        by_place = SHARPNESS * (unit @ vectors[self.places].T)[labelled]
        by_kind = SHARPNESS * (unit @ vectors[self.kinds].T)
        columns = self.columns.expand(category.shape)[labelled]
        loss = (
            functional.cross_entropy(by_category, category[labelled])
            + _PLACE_SHARE * functional.cross_entropy(by_place, columns)
            + _KIND_SHARE
            * functional.cross_entropy(
                by_kind.flatten(0, 1), kind.flatten(), weight=torch.tensor(_KIND_WEIGHTS)
            )
        )
        right = (by_category.argmax(-1) == category[labelled]).float().mean()
        return loss, float(right)


def vision_batch(settings: Settings, pool: Pool, step: int) -> tuple[Int64[torch.Tensor, " image"], bool]:
    """Return the scenes of a vision step, and whether they are mirrored."""
    rng = random.Random(f"{settings.seed} vision {step}")
    chosen = [rng.randrange(len(pool.scenes)) for _ in range(settings.vision_batch)]
    return torch.tensor(chosen), step % 2 == 1


def mirror(labels: Int64[torch.Tensor, "image 36"]) -> Int64[torch.Tensor, "image 36"]:
    """Return patch labels of the images flipped left to right."""
    return labels.view(-1, PATCHES, PATCHES).flip(-1).reshape(labels.shape)


@torch.no_grad()
def match_scale(
    model: LlavaForConditionalGeneration, projected: Float[torch.Tensor, "image 36 width"]
) -> None:
    """Scale the projector so that image tokens are 1.5 times as long as word vectors."""
    words = model.get_input_embeddings().weight
    factor = 1.5 * words.norm(dim=-1).mean() / projected.norm(dim=-1).mean()
    last = model.model.multi_modal_projector.linear_2
    last.weight.mul_(factor)
    last.bias.mul_(factor)
