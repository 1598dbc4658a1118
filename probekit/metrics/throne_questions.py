"""THRONE's questions, read from the user's own checkout or a file; none is kept here, for their licence.

A checkout is parsed, never run: only string constants and lists of their names are taken from it.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.yaml_files import read_yaml

TEXT_LIMIT = 1024
"""Characters of a caption that are shown to a judge."""

_SHAPE = (
    "Needed: a THRONE checkout (throne/throne_constants.py with Q_LIST and I_LIST), or a YAML file with "
    "`instruction` and `questions`, a list of `singular` ({0} article, {1} name) and `plural` ({0} name)."
)
_PLURAL = ("skis", "scissors")
_RENAMED = {"tie": "necktie"}


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked about a class.

    Attributes:
        instruction: stands between caption and question.
        templates: singular and plural form of each question.
    """

    instruction: str
    templates: tuple[tuple[str, str], ...]

    def ask(self, caption: str, category: str, question: int) -> str:
        """The prompt: labelled caption, cut to its first 1,024 characters, instruction, question."""
        singular, plural = self.templates[question]
        name = _RENAMED.get(category, category)
        article = "an" if name[0] in "aeiou" else "a"
        asked = plural.format(name) if category in _PLURAL else singular.format(article, name)
        return f"Text: {caption[:TEXT_LIMIT]}\n\n{self.instruction}\n\n{asked}"

    def __len__(self) -> int:
        return len(self.templates)


def load_questions(path: Path, count: int = 3) -> Questions:
    """The first ``count`` questions and the first instruction of a checkout, or of a YAML file.

    Args:
        path: root of a checkout, its ``throne_constants.py``, or a YAML file.
        count: how many questions; THRONE asks three.

    Raises:
        InputError: the file is missing, has another shape, or has fewer questions.
    """
    file = path
    if path.is_dir():
        candidates = (path / "throne" / "throne_constants.py", path / "throne_constants.py")
        file = next((one for one in candidates if one.is_file()), candidates[0])
    if not file.is_file():
        raise InputError("cannot read the questions: no such file", where=str(file), hint=_SHAPE)
    instruction, templates = _from_python(file) if file.suffix == ".py" else _from_yaml(file)
    if len(templates) < count or count < 1:
        raise InputError(f"{len(templates)} questions, {count} wanted", where=str(file), hint=_SHAPE)
    questions = Questions(instruction, tuple(templates[:count]))
    for number in range(count):
        try:
            questions.ask("", "dog", number)
            questions.ask("", "skis", number)
        except (IndexError, KeyError, ValueError, AttributeError) as error:
            where = f"{file}, question {number + 1}"
            raise InputError(f"not a question: {error}", where=where, hint=_SHAPE) from None
    return questions


def _from_yaml(file: Path) -> tuple[str, list[tuple[str, str]]]:
    value = read_yaml(file)
    try:
        return _checked(
            value["instruction"], [(one["singular"], one["plural"]) for one in value["questions"]], file
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"no questions: {error}", where=str(file), hint=_SHAPE) from None


def _from_python(file: Path) -> tuple[str, list[tuple[str, str]]]:
    try:
        statements = ast.parse(file.read_text(encoding="utf-8")).body
    except (SyntaxError, ValueError) as error:
        raise InputError(f"not Python: {error}", where=str(file), hint=_SHAPE) from None
    values: dict[str, Any] = {}
    for statement in statements:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                values[target.id] = _constant(statement.value, values)
    try:
        return _checked(values["I_LIST"][0], [(one[0], one[1]) for one in values["Q_LIST"]], file)
    except (KeyError, IndexError, TypeError) as error:
        raise InputError(f"no questions: {error!r}", where=str(file), hint=_SHAPE) from None


def _constant(node: ast.expr, values: dict[str, Any]) -> Any:
    """A string, a name of one, or a list of them; ``None`` for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.List | ast.Tuple):
        return [_constant(one, values) for one in node.elts]
    return None


def _checked(
    instruction: object, templates: Sequence[tuple[object, object]], file: Path
) -> tuple[str, list[tuple[str, str]]]:
    pairs = [(one, two) for one, two in templates if isinstance(one, str) and isinstance(two, str)]
    if not isinstance(instruction, str) or len(pairs) != len(templates):
        raise InputError("instruction and questions must be text", where=str(file), hint=_SHAPE)
    return instruction, pairs
