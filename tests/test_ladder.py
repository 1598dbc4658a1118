"""The import ladder and its doors, read from the source: who may import whom, and which package where."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "probekit"

FLOORS = (
    {"errors", "rows", "files", "yaml_files", "progress", "captures", "jobs", "labels"},
    {"organism"},
    {"benchmarks", "mentions", "store"},
    {"families", "readouts", "judges", "metrics"},
    {"forward", "scores", "detectors"},
    {"evaluation"},
    {"report"},
    {"pipeline"},
    {"cli"},
)
APART = {("store", "forward"), ("forward", "store"), ("store", "families"), ("families", "store")}

TORCH = {"families", "forward", "organism", "detectors", "judges", "pipeline", "metrics"}
DOORS = {
    "nnsight": {"families", "forward", "organism"},
    "transformers": {"families", "forward", "organism", "judges", "metrics"},
    "transformer_lens": {"families", "forward"},
    "torch": TORCH,
    "h5py": {"store"},
    "sklearn": {"detectors", "evaluation", "organism"},
    "matplotlib": {"report"},
    "typer": {"cli"},
    "openai": {"judges"},
    "yaml": {"yaml_files"},
}
STUDIES = {"extract", "train", "analysis"}


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def room(path):
    parts = path.relative_to(PACKAGE).parts
    return parts[0].removesuffix(".py")


def imports(path):
    """``(top-level package, second part, line)`` of every import, lazy ones included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            if node.module == "probekit":
                names = [f"probekit.{alias.name}" for alias in node.names]
            else:
                names = [node.module]
        for name in names:
            parts = name.split(".")
            yield parts[0], parts[1] if len(parts) > 1 else "", node.lineno


def floor(name):
    return next((number for number, names in enumerate(FLOORS) if name in names), None)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_module_imports_from_above_or_through_a_closed_door(path):
    here = room(path)
    if here == "__init__":
        return
    assert floor(here) is not None, f"{here} stands on no floor"
    for package, second, line in imports(path):
        where = f"{path.relative_to(ROOT)}:{line}"
        assert package not in STUDIES, f"{where}: studies are run, not imported"
        if package in DOORS:
            assert here in DOORS[package], f"{where}: {package} has no door to {here}"
        if package == "probekit" and second and second != here and floor(second) is not None:
            assert floor(second) < floor(here) or {second, here} <= FLOORS[0], (
                f"{where}: {here} imports {second}"
            )
            assert (here, second) not in APART, f"{where}: {here} and {second} stay apart"


def test_the_checker_sees_a_lazy_import(tmp_path):
    page = tmp_path / "page.py"
    page.write_text("def f():\n    import torch.nn\n    from probekit.report import page\n")
    assert {(p, s) for p, s, _ in imports(page)} == {("torch", "nn"), ("probekit", "report")}


@pytest.mark.parametrize("code", ["import probekit", "import probekit.cli"])
def test_light_imports_load_nothing_heavy(code):
    heavy = ["torch", "transformers", "nnsight", "transformer_lens", "sklearn", "h5py", "matplotlib"]
    script = f"import sys\n{code}\nprint([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_loads_nothing_heavy():
    script = (
        "import sys\nsys.argv=['probekit','--help']\nfrom probekit.cli import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    code = stop.code\n"
        "print(code, [m for m in ('torch','transformers','nnsight') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip().splitlines()[-1] == "0 []"
