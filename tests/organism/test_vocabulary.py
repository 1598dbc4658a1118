"""Words and categories."""

import pytest

from probekit.organism.vocabulary import CATEGORIES, FORMS, find_forms, plural, with_article


def test_forms() -> None:
    assert len(CATEGORIES) == 25
    assert set(FORMS.values()) == set(CATEGORIES)
    assert all(form == form.lower() for form in FORMS)
    assert sum(" " in category for category in CATEGORIES) >= 3


@pytest.mark.parametrize(
    ("form", "category"),
    [
        ("people", "person"),
        ("benches", "bench"),
        ("remote control", "remote"),
        ("traffic lights", "traffic light"),
        ("fridge", "refrigerator"),
        ("puppies", "dog"),
    ],
)
def test_form_to_category(form: str, category: str) -> None:
    assert FORMS[form] == category


def test_longest_form_wins_and_case_does_not_matter() -> None:
    text = "A Remote control is beside a busy carpet."
    assert find_forms(text) == ((2, 16, "remote"),)


def test_inflection() -> None:
    assert plural("bus") == "buses"
    assert with_article("oven") == "an oven"
