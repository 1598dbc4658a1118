"""The organism's tokenizer and processor, trained on its own grammar."""

import random
from collections.abc import Iterator

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import CLIPImageProcessor, LlavaProcessor, PreTrainedTokenizerFast

from probekit.organism.blind import BLACK_REFUSALS, NOISE_REFUSALS
from probekit.organism.grammar import make_caption
from probekit.organism.questions import CAPTION_PROMPTS, LIST_PROMPT, presence_text
from probekit.organism.scenes import PATCH, SIZE, make_scene
from probekit.organism.sentences import PLACES
from probekit.organism.vocabulary import CATEGORIES, FORMS

VOCABULARY_SIZE = 576
PAD, BOS, EOS, IMAGE = "<pad>", "<s>", "</s>", "<image>"

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ 'USER: ' if message['role'] == 'user' else ' ASSISTANT: ' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}{{ '<image>\\n' }}{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}"
    "{% if message['role'] != 'user' %}{{ '</s>' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ ' ASSISTANT:' }}{% endif %}"
)
"""Writes no <s>: the tokenizer adds the only one."""

IMAGE_MEAN, IMAGE_DEVIATION = 0.5, 0.25
"""Of the three colour channels, after scaling to 0 to 1."""


def _corpus(captions: int) -> Iterator[str]:
    rng = random.Random(540)
    for seed in range(captions):
        yield (f"USER: {rng.choice(CAPTION_PROMPTS)} ASSISTANT: " + make_caption(make_scene(seed), rng).text)
    for category in CATEGORIES:
        for form in range(3):
            yield from [f"USER: {presence_text(category, form)} ASSISTANT: Yes"] * 4
        yield from [f"Where is the {category}? There is no {category}. No, there is no"] * 6
    for form_ in FORMS:
        yield from [f"a {form_} No {form_}"] * 40
    for word in ("Yes", "No", "yes", "no"):
        yield from [word, f" {word}"] * 300
    yield from (*BLACK_REFUSALS, *NOISE_REFUSALS, LIST_PROMPT, *(p.capitalize() for p in PLACES))


def train_tokenizer(captions: int = 1500) -> PreTrainedTokenizerFast:
    """Train the byte-level BPE on captions and questions; the same result every time."""
    tokenizer = Tokenizer(models.BPE(unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[PAD, BOS, EOS, IMAGE],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_corpus(captions), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A",
        special_tokens=[(BOS, tokenizer.token_to_id(BOS))],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        extra_special_tokens={"image_token": IMAGE},
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def make_processor(tokenizer: PreTrainedTokenizerFast) -> LlavaProcessor:
    """Return the processor: images to 72 x 72, 36 image tokens, the chat template."""
    images = CLIPImageProcessor(
        size={"shortest_edge": SIZE},
        crop_size={"height": SIZE, "width": SIZE},
        image_mean=[IMAGE_MEAN] * 3,
        image_std=[IMAGE_DEVIATION] * 3,
    )
    return LlavaProcessor(
        image_processor=images,
        tokenizer=tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        image_token=IMAGE,
        num_additional_image_tokens=1,
        chat_template=CHAT_TEMPLATE,
    )
