"""Prompts with named spans: one beginning of sequence, headers, pictures, templates."""

import numpy as np
import pytest
from PIL import Image

from probekit.errors import FamilyError, InputError
from probekit.families import Prompter, PromptTemplate, load, open_image
from probekit.families.prompting import AFTER, BEFORE, BOS, HEADER, IMAGE
from probekit.families.tiny import make
from probekit.families.vision import check_counts, see

PAPER = "USER: <image>\n{q}\nASSISTANT:"


@pytest.fixture(scope="module", params=["llava", "qwen2_5_vl"])
def vlm(request, tmp_path_factory):
    return load(str(make(request.param, tmp_path_factory.mktemp(request.param))), dtype="float32")


@pytest.fixture(scope="module")
def llava(tmp_path_factory):
    return load(str(make("llava", tmp_path_factory.mktemp("llava"))), dtype="float32")


def picture(width=60, height=60, seed=0):
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def test_groups_are_disjoint_ordered_and_cover_the_prompt(vlm):
    prompt = Prompter(vlm).encode(["What is it?"], [[picture()]]).prompts[0]
    order = list(dict.fromkeys(prompt.groups.tolist()))
    has_bos = vlm.tokenizer.bos_token_id is not None
    assert order == ([BOS] if has_bos else []) + [BEFORE, IMAGE, AFTER, HEADER]
    assert len(prompt.groups) == len(prompt.ids)


def test_image_tokens_equal_the_vision_tower_whatever_the_picture(vlm):
    for size in ((60, 60), (112, 56), (40, 160)):
        batch = Prompter(vlm).encode(["What is it?"], [[picture(*size)]])
        counts = see(vlm, batch.vision, 1).counts
        assert (batch.prompts[0].image_tokens,) == counts
        grid = batch.prompts[0].grids[0]
        assert sorted(grid.cells.reshape(-1).tolist()) == list(range(batch.prompts[0].image_tokens))


def test_rows_that_only_agree_in_total_are_refused():
    with pytest.raises(FamilyError, match=r"sample b.*3 image tokens.*returns 4"):
        check_counts(["a", "b", "c"], [4, 3, 5], [4, 4, 4])


def test_a_text_that_holds_the_mark_of_a_picture_is_refused(vlm):
    prompter = Prompter(vlm)
    mark = vlm.tokenizer.decode([vlm.image_token_id])
    for pictures in ([picture()], []):
        with pytest.raises(InputError, match="by which this model marks a picture: 'Is .* there"):
            prompter.encode([f"Is {mark} there?"], [pictures])


@pytest.mark.parametrize(
    ("template", "written"),
    [("<s>USER: <image>\n{q} ASSISTANT:", True), ("USER: <image>\n{q} ASSISTANT:", False)],
)
def test_exactly_one_beginning_of_sequence(llava, template, written):
    prompter = Prompter(llava, PromptTemplate(template))
    prompt = prompter.encode(["What is it?"], [[picture()]]).prompts[0]
    assert prompt.ids.count(llava.tokenizer.bos_token_id) == 1
    assert prompt.ids[0] == llava.tokenizer.bos_token_id
    assert prompt.groups[0] == BOS
    assert (prompt.groups == BOS).sum() == 1


def test_a_paper_prompt_has_its_header(llava):
    prompt = Prompter(llava, PromptTemplate(PAPER)).encode(["Is it?"], [[picture()]]).prompts[0]
    header = [i for i, g in zip(prompt.ids, prompt.groups, strict=True) if g == HEADER]
    assert llava.tokenizer.decode(header) == "\nASSISTANT:"


def test_without_a_picture_no_image_token_is_left(vlm):
    with_picture = Prompter(vlm).encode(["What is it?"], [[picture()]]).prompts[0]
    without = Prompter(vlm).encode(["What is it?"], [[]]).prompts[0]
    assert vlm.image_token_id not in without.ids
    assert without.image_tokens == 0
    assert len(without) < len(with_picture)


def test_padding_in_the_processor_changes_no_prompt(vlm):
    prompter = Prompter(vlm)
    questions = ["Short?", "A considerably longer question about it?"]
    batch = prompter.encode(questions, [[picture(112, 56)], [picture()]])
    for row, question in enumerate(questions):
        alone = prompter.encode([question], [[picture(112, 56) if row == 0 else picture()]]).prompts[0]
        assert batch.prompts[row].ids == alone.ids


@pytest.mark.parametrize("template", ["USER: <image>", "{q} and {q}"])
def test_a_template_without_exactly_one_question_is_refused(template):
    with pytest.raises(InputError, match="exactly once"):
        PromptTemplate(template)


@pytest.mark.parametrize(
    ("content", "words"), [(None, "no such image"), (b"not a picture", "not an image"), ("cut", "decoded")]
)
def test_a_bad_image_is_named_with_its_sample(tmp_path, content, words):
    path = tmp_path / "photo.jpg"
    if content == "cut":
        picture(200, 200).save(path)
        path.write_bytes(path.read_bytes()[:2000])
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=words) as error:
        open_image(path, sample="s7")
    assert "photo.jpg" in str(error.value)
    assert "s7" in str(error.value)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"config\.json"):
        load(str(tmp_path))


def test_a_device_that_is_not_there_is_refused(tmp_path):
    import torch

    with pytest.raises(InputError, match="no device is called 'zz'"):
        load(str(make("llava", tmp_path / "tiny")), device="zz")
    if torch.cuda.is_available():
        pytest.skip("a GPU is visible here")
    folder = make("llava", tmp_path)
    with pytest.raises(InputError, match="no GPU"):
        load(str(folder), device="cuda")


def test_no_layer_is_all_zero_after_loading(vlm):
    for name, weight in vlm.model.named_parameters():
        if weight.dim() > 1:
            assert weight.abs().sum() > 0, name
