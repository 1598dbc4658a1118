"""The organism's body: a LLaVA of about 1.5 million parameters, and how its weights begin."""

from dataclasses import dataclass

import torch
from transformers import (
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    PreTrainedTokenizerFast,
)

from probekit.organism.scenes import PATCH, PATCHES, SIZE


@dataclass(frozen=True)
class Shape:
    """Widths and depths. The defaults are the shipped model's."""

    vision_width: int = 96
    vision_layers: int = 4
    width: int = 128
    layers: int = 4
    feed_forward: int = 384
    heads: int = 4
    head_width: int = 48
    mimetic_heads: int = 2
    """Heads of each layer that begin by attending to equal words and patches."""


ROPE_THETA = 1e6
"""High, so that attention by content is not disturbed by distance."""


def make_model(tokenizer: PreTrainedTokenizerFast, shape: Shape, seed: int) -> LlavaForConditionalGeneration:
    """Return an untrained model in float32; the weights are a function of shape and seed."""
    vision = CLIPVisionConfig(
        hidden_size=shape.vision_width,
        intermediate_size=3 * shape.vision_width,
        num_hidden_layers=shape.vision_layers,
        num_attention_heads=max(1, shape.vision_width // 32),
        image_size=SIZE,
        patch_size=PATCH,
        projection_dim=shape.vision_width,
    )
    text = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        intermediate_size=shape.feed_forward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        head_dim=shape.head_width,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA},
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
        image_seq_length=PATCHES**2,
        tie_word_embeddings=True,
    )
    torch.manual_seed(seed)
    model = LlavaForConditionalGeneration(config)
    _initialise(model, shape)
    return model


@torch.no_grad()
def _initialise(model: LlavaForConditionalGeneration, shape: Shape) -> None:
    """Begin with some heads that find equal content, as trained heads do.

    From a plain beginning the model stays at chance on yes/no questions for longer than a
    training run on two cores lasts.
    """
    mimetic = slice(0, shape.mimetic_heads * shape.head_width)
    model.get_input_embeddings().weight.normal_(0, 0.06)
    for layer in model.model.language_model.layers:
        attention = layer.self_attn
        for projection in (attention.q_proj, attention.k_proj):
            projection.weight.normal_(0, 0.06)
        attention.v_proj.weight.normal_(0, 0.06)
        attention.o_proj.weight.normal_(0, 0.03)
        attention.q_proj.weight[mimetic].normal_(0, 0.07)
        attention.k_proj.weight[mimetic] = attention.q_proj.weight[mimetic]
        attention.o_proj.weight[:, mimetic] = 0.5 * attention.v_proj.weight[mimetic].T
        layer.mlp.gate_proj.weight.normal_(0, 0.06)
        layer.mlp.up_proj.weight.normal_(0, 0.06)
        layer.mlp.down_proj.weight.normal_(0, 0.02)
    projector = model.model.multi_modal_projector
    for linear in (projector.linear_1, projector.linear_2):
        linear.weight.normal_(0, 0.08)


def project_images(model: LlavaForConditionalGeneration, pixels: torch.Tensor) -> torch.Tensor:
    """Return the projected image tokens, [image, 36, width], of pixels [image, 3, 72, 72]."""
    states = model.model.vision_tower(pixels, output_hidden_states=True).hidden_states[-1]
    projected: torch.Tensor = model.model.multi_modal_projector(states[:, 1:])
    return projected
