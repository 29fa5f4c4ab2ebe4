"""Reading dataset files: YAML in, a spec or an error that names the line and the field out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from .errors import SpecError
from .spec import DatasetSpec


def load_spec_file(path: Path) -> DatasetSpec:
    """The dataset that a file declares."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise SpecError(f"There is no file {path}.", "Check the path.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} cannot be read as text: {error}.", "Save it as UTF-8 YAML.") from error
    return parse_spec(text, str(path))


def parse_spec(text: str, source: str = "dataset file") -> DatasetSpec:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None:
            _refuse_duplicate_keys(root, source)
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}:{mark.line + 1}" if mark else source
        problem = getattr(error, "problem", None) or str(error)
        raise SpecError(f"{where}: not valid YAML: {problem}.", "Mend the line; check its indentation.") from error
    if not isinstance(data, dict):
        raise SpecError(
            f"{source}:1: a dataset file is a mapping (project:, dataset:, columns: …).",
            "See the README for a complete example.",
        )
    return validate_spec(data, source, root)


def validate_spec(data: dict[str, Any], source: str, root: yaml.Node | None = None) -> DatasetSpec:
    """A spec from plain data; with the YAML nodes at hand, errors name lines too."""
    try:
        return DatasetSpec.model_validate(data)
    except ValidationError as error:
        lines = [_describe(e, source, root) for e in error.errors(include_url=False)]
        raise SpecError("\n".join(lines), "Mend the file and apply it again.") from error


def _describe(error: Any, source: str, root: yaml.Node | None) -> str:
    loc = [part for part in error["loc"] if not str(part).startswith("function-")]
    field = ""
    for part in loc:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else str(part)
    where = f"{source}:{_line(root, loc)}" if root is not None else source
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        message = "unknown field"
    elif error["type"] == "missing":
        message = "missing"
    return f"{where}: {field + ': ' if field else ''}{message}"


def _line(node: yaml.Node | None, loc: list[Any]) -> int:
    """The line of the deepest part of `loc` that is really in the file."""
    line = 1
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == part), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _refuse_duplicate_keys(node: yaml.Node, source: str) -> None:
    """YAML lets the last of two equal keys win; in a dataset file that is always a mistake."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                raise SpecError(
                    f"{source}:{key.start_mark.line + 1}: {key.value}: given twice.", "Keep one of the two."
                )
            seen.add(key.value)
            _refuse_duplicate_keys(value, source)
    elif isinstance(node, yaml.SequenceNode):
        for child in node.value:
            _refuse_duplicate_keys(child, source)
