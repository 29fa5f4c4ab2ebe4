"""A dataset on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.spec import DatasetSpec, constraint_check
from .render import count, facts, moment, say, size, table

if TYPE_CHECKING:
    from rich.console import Console


def show_card(console: Console, found: dict[str, Any]) -> None:
    spec = DatasetSpec.model_validate(found["spec"])
    say(console, f"{spec.ref}", "bold")
    if spec.description:
        say(console, spec.description)
    console.print()
    console.print(
        facts(
            [
                ("version", count(found["delta_version"])),
                ("rows", count(found["row_count"])),
                ("files", f"{count(found['file_count'])}, {size(found['bytes'])}"),
                ("last commit", found["last_commit_id"]),
                ("changed", f"{moment(found['updated_at'])} UTC"),
                ("key", ", ".join(spec.key) or "none: append-only"),
                ("owners", ", ".join(spec.owners) or None),
                ("approvals", str(spec.approvals)),
                ("open", ", ".join(found["open_change_requests"]) or "no change requests"),
                ("location", found["location"]),
            ]
        )
    )
    console.print()
    columns = table("column", "type", "null", "about")
    for column in spec.columns:
        columns.add_row(column.name, column.type, "yes" if column.nullable else "no", column.description)
    console.print(columns)
    if spec.check_names:
        console.print()
        checks = table("check", "severity", "what")
        for item in spec.expectations:
            checks.add_row(item.check_name, item.severity, item.type)
        for name, rule in spec.constraints.items():
            checks.add_row(constraint_check(name), "fatal", rule)
        console.print(checks)
