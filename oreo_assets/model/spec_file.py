"""Reading dataset files: YAML in, a spec or an error that names the line and the field out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from .errors import SpecError
from .spec import DatasetSpec

_MAX_CHARACTERS = 1_000_000
_MAX_NODES = 100_000
_MAX_BRACKETS = 200
_NOT_WHAT_ITS_TAG_SAYS = (ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError)
"""What PyYAML ends with on a day 2026-13-45, a `!!bool maybe` or an `!!int` without digits."""


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
    if len(text) > _MAX_CHARACTERS:
        raise SpecError(f"{source}: longer than {_MAX_CHARACTERS:,} characters.", "Declare one dataset per file.")
    try:
        _refuse_open_brackets(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None:
            _Walk(source).measure(root)
        data = yaml.safe_load(text)
    except RecursionError as error:
        raise SpecError(f"{source}: nested too deeply.", "Declare it with fewer levels.") from error
    except _NOT_WHAT_ITS_TAG_SAYS as error:
        raise SpecError(
            f"{source}: not valid YAML: a value is not what it says it is ({error}).",
            "Put texts that look like dates or numbers into quotes.",
        ) from error
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
        spec = DatasetSpec.model_validate(data)
    except ValidationError as error:
        lines = [_describe(e, source, root) for e in error.errors(include_url=False)]
        raise SpecError("\n".join(lines), "Mend the file and apply it again.") from error
    _refuse_unkeepable(spec, source)
    return spec


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


def _refuse_open_brackets(text: str) -> None:
    """PyYAML takes minutes for some thousand brackets that are opened and not closed."""
    depth = 0
    for bracket in re.findall(r"[\[{\]}]", text):
        depth += 1 if bracket in "[{" else -1
        if depth > _MAX_BRACKETS:
            raise RecursionError


def _refuse_unkeepable(spec: DatasetSpec, source: str) -> None:
    """What the catalog cannot keep as JSON: numbers without end, bytes, half characters, NUL."""
    try:
        text = json.dumps(spec.as_json(), ensure_ascii=False)
        text.encode()
        # As JSON, a number without end is null, and a check that has lost its limit lets everything through.
        json.dumps(spec.model_dump(), default=str, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise SpecError(
            f"{source}: a value in it cannot be kept: {error}.", "Use texts, finite numbers, lists and mappings."
        ) from error
    if "\\u0000" in text:
        raise SpecError(f"{source}: a text in it holds a NUL character.", "Remove it.")


class _Walk:
    """Once over the YAML: no key twice, no key that is a list, and no alias that makes a little file a huge one."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._sizes: dict[int, int] = {}

    def measure(self, node: yaml.Node) -> int:
        """How many values the node stands for, its aliases written out."""
        known = self._sizes.get(id(node))
        if known == 0:
            raise self._wrong(node, "it holds itself", "Write out what is meant.")
        if known is None:
            self._sizes[id(node)] = 0
            known = 1 + sum(self.measure(child) for child in self._children(node))
            self._sizes[id(node)] = known
        if known > _MAX_NODES:
            raise self._wrong(node, f"more than {_MAX_NODES:,} values", "Use fewer aliases (*name).")
        return known

    def _children(self, node: yaml.Node) -> list[yaml.Node]:
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        if not isinstance(node, yaml.MappingNode):
            return []
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._wrong(key, "a list or mapping cannot be a key", "Use a plain word.")
            # YAML lets the last of two equal keys win; in a dataset file that is always a mistake.
            if key.value in seen:
                raise self._wrong(key, f"{key.value}: given twice", "Keep one of the two.")
            seen.add(key.value)
        return [value for _, value in node.value]

    def _wrong(self, node: yaml.Node, what: str, remedy: str) -> SpecError:
        return SpecError(f"{self._source}:{node.start_mark.line + 1}: {what}.", remedy)
