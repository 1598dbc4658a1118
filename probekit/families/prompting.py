"""From questions and images to token ids with named spans, whatever the model's chat template."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from PIL import Image

from probekit.benchmarks.example import Message, Text
from probekit.captures import GROUPS
from probekit.errors import ContractError, FamilyError, InputError
from probekit.families.conversation import Asked, Shown, chat, messages_of, openers, places
from probekit.families.family import Grid
from probekit.families.loading import TextDecoder, Vlm
from probekit.files import digest

BOS, BEFORE, IMAGE, AFTER, HEADER, CAPTION = range(len(GROUPS))


@dataclass(frozen=True)
class PromptTemplate:
    """How a question becomes the text of a prompt.

    Attributes:
        text: ``None`` uses the model's own chat template; otherwise the whole prompt, with
            ``<image>`` where the picture goes and ``{q}`` where the question goes. What follows
            ``{q}`` is the assistant header.
    """

    text: str | None = None

    def __post_init__(self) -> None:
        if self.text is not None and self.text.count("{q}") != 1:
            raise InputError(
                f"the prompt template {self.text!r} needs {{q}} exactly once",
                hint="For example: 'USER: <image>\\n{q}\\nASSISTANT:'",
            )


@dataclass(frozen=True)
class EncodedPrompt:
    """One prompt as the model sees it.

    Attributes:
        ids: token ids after image expansion, without padding; ``m`` of them.
        groups: index into `probekit.captures.GROUPS` of each position, ``(m,)``.
        grids: one token grid an image, ``None`` where the tokens form no regular grid.
        token_types: per-token inputs other than ids, by name, ``(m,)`` each.
        blocks: block of each token, ``(m,)``; those of one block see each other, -1 stands for none.
    """

    ids: tuple[int, ...]
    groups: Int[np.ndarray, " m"]
    grids: tuple[Grid | None, ...]
    token_types: Mapping[str, tuple[int, ...]]
    blocks: Int[np.ndarray, " m"]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def image_tokens(self) -> int:
        """N, the number of image tokens."""
        return int((self.groups == IMAGE).sum())

    @property
    def whole(self) -> int:
        """Tokens at the start that only an equal beginning of that length can share.

        They hold the pictures and every token that sees tokens behind it.
        """
        fixed = np.flatnonzero((self.groups == IMAGE) | (self.blocks >= 0))
        return int(fixed[-1]) + 1 if fixed.size else 0


@dataclass(frozen=True)
class PromptBatch:
    """Prompts of one batch and the vision inputs that belong to them, in the same order.

    A vision input with an entry a token (``cross_attention_mask``) is padded on the left.
    """

    prompts: tuple[EncodedPrompt, ...]
    vision: Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class SharedBatch:
    """Prompts of one batch over a few pictures, each picture prepared once.

    Attributes:
        prompts: one a text.
        vision: what the processor made of the distinct pictures.
        pictures: how many distinct pictures there are.
        picture: which of them each text is about.
    """

    prompts: tuple[EncodedPrompt, ...]
    vision: Mapping[str, torch.Tensor]
    pictures: int
    picture: tuple[int, ...]


class Prompter:
    """Encodes questions for one model; exactly one beginning-of-sequence token where it has one."""

    def __init__(self, vlm: Vlm, template: PromptTemplate | None = None) -> None:
        self.vlm = vlm
        self.template = template or PromptTemplate()
        image_token = getattr(vlm.processor, "image_token", None)
        self._image_token = str(image_token or vlm.tokenizer.decode([vlm.image_token_id]))
        chat = getattr(vlm.processor, "chat_template", None) or getattr(vlm.tokenizer, "chat_template", None)
        if self.template.text is None and chat is None:
            raise InputError(
                "the model brings no chat template",
                where=vlm.name,
                hint="Give one with --prompt, for example '<image>{q}'.",
            )
        self.template_hash = digest(self.template.text or chat)

    def text(self, question: Asked, images: int) -> tuple[str, str]:
        """The prompt's text with and without the assistant header.

        With a template of one's own the pictures before the first word go where its ``<image>`` is, those
        between words stay between them.

        Raises:
            InputError: a conversation has other than ``images`` places for pictures, or more than one turn
                under a template that takes one, or a text holds the mark of a picture.
        """
        messages = messages_of(question, images)
        for part in (part for message in messages for part in message.parts):
            if isinstance(part, Text) and self._image_token in part.text:
                at = part.text.index(self._image_token)
                raise InputError(
                    f"a text of the prompt holds {self._image_token!r}, by which this model marks a picture: "
                    f"{part.text[max(0, at - 40) : at + 60]!r}",
                    hint="Take it out of the question or the evidence; pictures are placed by themselves.",
                )
        if self.template.text is not None:
            return self._templated(messages)
        own = getattr(self.vlm.processor, "chat_template", None) is not None
        render = (self.vlm.processor if own else self.vlm.tokenizer).apply_chat_template
        return (
            render(chat(messages), add_generation_prompt=True, tokenize=False),
            render(chat(messages), add_generation_prompt=False, tokenize=False),
        )

    def _templated(self, messages: Sequence[Message]) -> tuple[str, str]:
        if len(messages) != 1 or messages[0].role != "user":
            raise InputError(
                f"a prompt template takes one user turn, not {len(messages)} messages",
                where=self.vlm.name,
                hint="Leave --prompt out: the model's own chat template takes conversations.",
            )
        parts = messages[0].parts
        leading = next((n for n, part in enumerate(parts) if isinstance(part, Text)), len(parts))
        question = "".join(p.text if isinstance(p, Text) else self._image_token for p in parts[leading:])
        before, after = str(self.template.text).split("{q}")
        if leading == 0:
            before = before.replace("<image>\n", "").replace("<image>", "")
        else:
            before = before.replace("<image>", self._image_token * leading)
        return before + question + after, before + question

    def encode(self, questions: Sequence[Asked], images: Sequence[Sequence[Image.Image]]) -> PromptBatch:
        """Encode a batch.

        Args:
            questions: one a row.
            images: the pictures of each row, in the order of their places in the prompt; all rows have at
                least one or none has any, and rows may have different numbers.

        Raises:
            FamilyError: the processor takes no text without a picture, or none with
                several, or expanded none.
        """
        texts = [self.text(question, len(row)) for question, row in zip(questions, images, strict=True)]
        pictured = [len(row) > 0 for row in images]
        if any(pictured) and not all(pictured):
            raise InputError("a batch cannot mix prompts with and without images")
        bos = self.vlm.tokenizer.bos_token
        written = bos is not None and all(full.startswith(bos) for full, _ in texts)
        with _pictures_taken(self.vlm, most=max(map(len, images))):
            inputs = self.vlm.processor(
                text=[full for full, _ in texts],
                images=[list(row) for row in images] if all(pictured) and pictured else None,
                return_tensors="pt",
                padding=True,
                add_special_tokens=not written,
            )
        ids, mask = inputs.pop("input_ids"), inputs.pop("attention_mask")
        inputs.pop("labels", None)
        if "qformer_input_ids" in inputs and len(ids) < sum(map(len, images)):
            raise FamilyError(
                f"{type(self.vlm.processor).__name__} reads one picture beside each text",
                where=self.vlm.name,
                hint="Choose a model that reads several pictures, or samples with one picture a prompt.",
            )
        _align_reader(inputs)
        alike = [key for key in inputs if inputs[key].shape == ids.shape and not key.startswith("qformer")]
        per_token = {key: inputs.pop(key) for key in alike}
        prompts = []
        first_image = 0
        for row, ((full, headless), row_images) in enumerate(zip(texts, images, strict=True)):
            keep = mask[row].bool()
            tokens = ids[row][keep].tolist()
            types = {key: value[row][keep].tolist() for key, value in per_token.items()}
            while len(tokens) > 1 and tokens[0] == tokens[1] == self.vlm.tokenizer.bos_token_id:
                tokens, types = tokens[1:], {key: value[1:] for key, value in types.items()}
            groups = self._groups(tokens, self._header(full, headless, special=not written))
            grids = self._grids(inputs, groups, len(row_images), first_image)
            first_image += len(row_images)
            prompts.append(self._encoded(tokens, groups, grids, {k: tuple(v) for k, v in types.items()}))
        if "cross_attention_mask" in inputs:
            seen = inputs["cross_attention_mask"]
            own = [seen[row][mask[row].bool()][-len(prompt) :] for row, prompt in enumerate(prompts)]
            inputs["cross_attention_mask"] = _padded_left(own)
        return PromptBatch(tuple(prompts), dict(inputs))

    def encode_shared(
        self,
        questions: Sequence[Asked],
        keys: Sequence[str],
        images: Sequence[Shown],
        *,
        share: bool,
    ) -> SharedBatch:
        """Encode a batch in which texts may be about the same picture; each is opened and prepared once.

        The first question about a picture goes through the processor. For the others its expanded
        image tokens are put in place of the placeholder; prompts with several pictures all go through it.
        What follows speaks of a picture where a text may show several: they are then one set, in one order.

        Args:
            questions: one a text.
            keys: identity of each text's pictures and their order; equal keys share them.
            images: opens each text's pictures; all are ``None`` in a pass without pictures.
            share: whether to prepare equal pictures once; otherwise every text has its own.
        """
        if not share or not openers(images[0]):
            keys = [str(number) for number in range(len(questions))]
        first = {key: number for number, key in reversed(list(enumerate(keys)))}
        order = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        leaders = [first[key] for key in order]
        opened = [[image() for image in openers(images[number])] for number in leaders]
        batch = self.encode([questions[number] for number in leaders], opened)
        prompts = []
        for number, key in enumerate(keys):
            leader = batch.prompts[order[key]]
            alike = questions[number] == questions[first[key]]
            if alike:
                prompts.append(leader)
                continue
            place = first[key]
            spliced = self._spliced(questions[number], questions[place], leader)
            prompts.append(spliced or self.encode([questions[number]], [opened[order[key]]]).prompts[0])
        return SharedBatch(tuple(prompts), batch.vision, len(leaders), tuple(order[key] for key in keys))

    def continuation(self, question: Asked, text: str) -> tuple[int, ...]:
        """Ids of a text written by others, tokenised as the model would go on after this prompt.

        The text follows the assistant header, after a blank unless the header ends with white space.

        Raises:
            InputError: the ids do not decode to the text.
        """
        full, _ = self.text(question, 1 if isinstance(question, str) else places(question))
        encode = self.vlm.tokenizer
        joined = full + text.strip() if full[-1].isspace() else f"{full} {text.strip()}"
        prompt = encode(full, add_special_tokens=False)["input_ids"]
        whole = encode(joined, add_special_tokens=False)["input_ids"]
        common = 0
        while common < min(len(prompt), len(whole)) and prompt[common] == whole[common]:
            common += 1
        ids = tuple(whole[common:])
        if common < len(prompt):
            lead = "" if full[-1].isspace() else " "
            ids = tuple(encode(lead + text.strip(), add_special_tokens=False)["input_ids"])
        back = self.decode(ids)
        if back.strip() != text.strip():
            raise InputError(
                f"the tokenizer gives {back.strip()[:60]!r} back for {text.strip()[:60]!r}",
                hint="The text holds characters or special tokens that this model cannot write.",
            )
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Text of generated ids, as generation itself decodes them."""
        return TextDecoder(self.vlm.tokenizer).decode(ids)

    def _spliced(self, question: Asked, asked: Asked, leader: EncodedPrompt) -> EncodedPrompt | None:
        """Another question about the leader's picture, what its placeholder became taken over.

        ``None`` where the two prompts are not the leader's tokens around one placeholder, for example
        because text next to the picture is tokenised together with what the placeholder becomes.

        Args:
            question: to be encoded.
            asked: the leader's question.
            leader: its prompt, as the processor encoded it.
        """
        tokens, groups_of = self._tokenized(question, len(leader.grids))
        if not leader.grids:
            return self._encoded(tokens, groups_of(tokens), (), _first(leader.token_types, len(tokens)))
        own, _ = self._tokenized(asked, len(leader.grids))
        mark = self.vlm.tokenizer.convert_tokens_to_ids(self._image_token)
        if own.count(mark) != 1 or tokens.count(mark) != 1:
            return None
        start, after = own.index(mark), len(own) - own.index(mark) - 1
        stop = len(leader.ids) - after
        if own[:start] != list(leader.ids[:start]) or own[start + 1 :] != list(leader.ids[stop:]):
            return None
        place = tokens.index(mark)
        before, behind = tokens[:place], tokens[place + 1 :]
        spliced = [*before, *leader.ids[start:stop], *behind]
        types = {
            key: (values[-1],) * len(before) + values[start:stop] + (values[-1],) * len(behind)
            for key, values in leader.token_types.items()
        }
        return self._encoded(spliced, groups_of(spliced), leader.grids, types)

    def _encoded(
        self,
        tokens: Sequence[int],
        groups: Int[np.ndarray, " m"],
        grids: tuple[Grid | None, ...],
        types: Mapping[str, tuple[int, ...]],
    ) -> EncodedPrompt:
        blocks = self.vlm.family.blocks(self.vlm.config, types, len(tokens))
        return EncodedPrompt(tuple(tokens), groups, grids, types, blocks)

    def _tokenized(
        self, question: Asked, images: int
    ) -> tuple[list[int], Callable[[Sequence[int]], Int[np.ndarray, " m"]]]:
        """Token ids with the placeholder as it is, and what gives the key groups once it is expanded."""
        full, headless = self.text(question, images)
        bos = self.vlm.tokenizer.bos_token
        special = not (bos is not None and full.startswith(bos))
        tokens = list(self.vlm.tokenizer(full, add_special_tokens=special)["input_ids"])
        while len(tokens) > 1 and tokens[0] == tokens[1] == self.vlm.tokenizer.bos_token_id:
            tokens = tokens[1:]
        header = self._header(full, headless, special=special)
        return tokens, lambda expanded: self._groups(expanded, header)

    def _header(self, full: str, headless: str, *, special: bool) -> int:
        """Tokens of the assistant header: those after the longest common prefix of the two texts."""
        encode = self.vlm.tokenizer
        long = encode(full, add_special_tokens=special)["input_ids"]
        short = encode(headless, add_special_tokens=special)["input_ids"]
        eos = self.vlm.tokenizer.eos_token_id
        if short and short[-1] == eos and long[-1] != eos:
            short = short[:-1]
        common = 0
        while common < min(len(long), len(short)) and long[common] == short[common]:
            common += 1
        return len(long) - common

    def _groups(self, tokens: Sequence[int], header: int) -> Int[np.ndarray, " m"]:
        ids = np.asarray(tokens)
        groups = np.full(len(ids), BEFORE, dtype=np.int64)
        image = np.flatnonzero(ids == self.vlm.image_token_id)
        if image.size:
            groups[image[0] :] = AFTER
        if header:
            groups[-header:] = HEADER
        if image.size and image[-1] >= len(ids) - header:
            raise ContractError("image tokens inside the assistant header", where=self.vlm.name)
        groups[image] = IMAGE
        for first in np.flatnonzero(ids == self.vlm.tokenizer.bos_token_id)[:1]:
            if (groups[:first] == IMAGE).all():
                groups[first] = BOS
        return groups

    def _grids(
        self, inputs: Mapping[str, Any], groups: Int[np.ndarray, " m"], images: int, first: int
    ) -> tuple[Grid | None, ...]:
        if images == 0:
            return ()
        tokens = int((groups == IMAGE).sum())
        if tokens == 0 and not self.vlm.family.cross_attention:
            raise FamilyError("the prompt has images but no image tokens", where=self.vlm.name)
        if images > 1:
            return (None,) * images
        return (self.vlm.family.grid(self.vlm.config, inputs, first, tokens),)


def _align_reader(inputs: MutableMapping[str, torch.Tensor]) -> None:
    """Pad a Q-Former's own reading of the question on the right.

    Its positions are counted from the first column, so padding on the left, which the processor takes
    over from the decoder's tokenizer, would change what it reads.
    """
    mask = inputs.get("qformer_attention_mask")
    if mask is None:
        return
    order = (mask == 0).long().argsort(dim=-1, stable=True)
    for key in ("qformer_input_ids", "qformer_attention_mask"):
        inputs[key] = inputs[key].gather(-1, order)


def _padded_left(rows: Sequence[torch.Tensor]) -> torch.Tensor:
    padded = rows[0].new_zeros(len(rows), max(map(len, rows)), *rows[0].shape[1:])
    for number, row in enumerate(rows):
        padded[number, -len(row) :] = row
    return padded


def _first(types: Mapping[str, tuple[int, ...]], length: int) -> dict[str, tuple[int, ...]]:
    return {key: values[:1] * length for key, values in types.items()}


@contextmanager
def _pictures_taken(vlm: Vlm, *, most: int) -> Iterator[None]:
    """Say so when a processor takes no text without a picture, or none with several.

    Args:
        most: pictures of the text that shows most of them.
    """
    name = type(vlm.processor).__name__
    try:
        yield
    except (ValueError, RuntimeError, IndexError, TypeError) as error:
        if most > 1:
            raise FamilyError(
                f"{name} does not take {most} pictures in one text: {str(error).splitlines()[0]}",
                where=vlm.name,
                hint="Choose a model that reads several pictures, or samples with one picture a prompt.",
            ) from error
        if most == 1 or not isinstance(error, ValueError) or "image" not in str(error):
            raise
        raise FamilyError(
            f"{name} takes no text without a picture",
            where=vlm.name,
            hint="Passes without pictures (text_only) cannot be served. Choose other detectors.",
        ) from error
