"""Imports go downwards only: faces → use cases → engines → ground."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import oreo_assets

PACKAGE = Path(oreo_assets.__file__).parent

LAYERS = [
    {"definitions", "defs", "api", "cli", "demo"},
    {"workflow", "platform_info"},
    {"lake", "quality", "convert"},
    {"catalog", "settings", "crash_points"},
    {"model"},
]
FORBIDDEN_BELOW_FACES = {"dagster", "dagster_graphql", "fastapi", "starlette", "typer", "uvicorn", "click"}
ALLOWED_EXCEPTIONS = {("lake/engine.py", "dagster_pyspark"), ("lake/connect_session.py", "dagster_pyspark")}


def _height(part: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if part in names)


def _modules() -> Iterator[tuple[Path, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        if relative.name == "__init__.py" and len(relative.parts) == 1:
            continue
        yield path, relative.parts[0].removesuffix(".py")


def _imports(path: Path) -> Iterator[str]:
    """Absolute names of everything a module imports, at its top or inside functions."""
    here = ("oreo_assets", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(here[: len(here) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module or ""]))
            yield module
            if node.module is None or module == "oreo_assets":
                yield from (f"{module}.{alias.name}" for alias in node.names)


def test_no_module_imports_from_a_layer_above_its_own():
    wrong = []
    for path, part in _modules():
        for name in _imports(path):
            pieces = name.split(".")
            if pieces[0] != "oreo_assets" or len(pieces) < 2 or pieces[1].startswith("__"):
                continue
            if _height(pieces[1]) < _height(part):
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


def test_only_the_faces_know_dagster_http_and_typer():
    wrong = []
    for path, part in _modules():
        if _height(part) == 0:
            continue
        relative = path.relative_to(PACKAGE).as_posix()
        for name in _imports(path):
            root = name.split(".")[0]
            if root in FORBIDDEN_BELOW_FACES or (
                root.startswith("dagster") and (relative, root) not in ALLOWED_EXCEPTIONS
            ):
                wrong.append(f"{relative} imports {name}")
    assert wrong == []


def test_model_imports_nothing_else_of_ours():
    for path, part in _modules():
        if part == "model":
            for name in _imports(path):
                assert not name.startswith("oreo_assets") or name.startswith("oreo_assets.model"), f"{path}: {name}"
