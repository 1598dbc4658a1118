"""Text and image encoders of the Hugging Face hub, for searches by nearness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from probekit.errors import InputError

Pooling = Literal["mean", "first"]
"""What a text is: the mean of its last states, or the first one (BERT's ``[CLS]``)."""


@dataclass(frozen=True)
class Encoder:
    """A loaded encoder. CLIP-type models embed texts and images into one space; others embed texts.

    Attributes:
        model, processor: of Hugging Face; the processor is a tokenizer where there are no images.
        name: what it was loaded from.
        pooling: how a text model's states become one vector; a CLIP-type model has its own way.
        batch: items at once.
    """

    model: Any
    processor: Any
    name: str
    pooling: Pooling = "mean"
    batch: int = 32

    @classmethod
    def load(
        cls, name: str, *, pooling: Pooling = "mean", device: str = "cpu", offline: bool = False
    ) -> Encoder:
        """Load a folder, or a name on the hub.

        Raises:
            InputError: there is no such encoder.
        """
        from transformers import AutoModel, AutoProcessor, AutoTokenizer

        try:
            model = AutoModel.from_pretrained(name, local_files_only=offline).eval().to(device)
            images = hasattr(model, "get_image_features")
            reader = AutoProcessor if images else AutoTokenizer
            processor = reader.from_pretrained(name, local_files_only=offline)
        except (OSError, ValueError, ImportError, KeyError) as error:
            text = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(
                f"the encoder cannot be loaded: {text}",
                where=name,
                hint="Give a folder saved with save_pretrained, or a name on the hub, such as "
                "facebook/contriever for texts or openai/clip-vit-base-patch32 for pictures.",
            ) from error
        return cls(model, processor, name, pooling)

    @property
    def sees(self) -> bool:
        """Whether it embeds pictures too."""
        return hasattr(self.model, "get_image_features")

    @torch.no_grad()
    def texts(self, texts: Sequence[str]) -> Float[np.ndarray, "item dim"]:
        """One row a text; what is longer than the model reads is cut."""
        tokenizer = getattr(self.processor, "tokenizer", self.processor)
        limit = getattr(self.model.config, "text_config", self.model.config)
        longest = int(getattr(limit, "max_position_embeddings", 512))
        rows = []
        for part in self._parts(texts):
            inputs = tokenizer(
                list(part), return_tensors="pt", padding=True, truncation=True, max_length=longest
            ).to(self.model.device)
            if self.sees:
                rows.append(_vectors(self.model.get_text_features(**inputs)))
                continue
            states = self.model(**inputs).last_hidden_state
            if self.pooling == "first":
                rows.append(states[:, 0])
                continue
            mask = inputs["attention_mask"][..., None].to(states.dtype)
            rows.append((states * mask).sum(1) / mask.sum(1))
        return torch.cat(rows).float().cpu().numpy()

    @torch.no_grad()
    def images(self, images: Sequence[Callable[[], Image.Image]]) -> Float[np.ndarray, "item dim"]:
        """One row a picture.

        Raises:
            InputError: it embeds texts alone.
        """
        if not self.sees:
            raise InputError("embeds texts alone", where=self.name, hint="Give a CLIP-type model.")
        rows = []
        for part in self._parts(images):
            inputs = self.processor.image_processor(images=[open_() for open_ in part], return_tensors="pt")
            pixels = inputs["pixel_values"].to(self.model.device, self.model.dtype)
            rows.append(_vectors(self.model.get_image_features(pixel_values=pixels)))
        return torch.cat(rows).float().cpu().numpy()

    def _parts(self, items: Sequence[Any]) -> Iterator[Sequence[Any]]:
        for start in range(0, len(items), self.batch):
            yield items[start : start + self.batch]

    @property
    def identity(self) -> str:
        """What an index is built with: name, commit or size of the weights, pooling."""
        commit = getattr(self.model.config, "_commit_hash", None)
        folder = Path(self.name)
        if folder.is_dir():
            from probekit.files import digest, sha256

            commit = digest({file.name: sha256(file) for file in sorted(folder.glob("*.safetensors"))})
        return f"{self.name} {commit} {self.pooling}"


def _vectors(found: Any) -> Tensor:
    return found if isinstance(found, Tensor) else found.pooler_output
