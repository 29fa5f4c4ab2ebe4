"""A change request on one screen, and many of them in a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from ..model.states import CRState
from .render import changes, count, facts, moment, say, size, state, table

if TYPE_CHECKING:
    from rich.console import Console


def show_card(console: Console, cr: dict[str, Any]) -> None:
    console.print(Text.assemble((cr["change_request_id"], "bold"), "  ", state(cr["state"])))
    if cr["note"]:
        say(console, cr["note"], "italic")
    console.print()
    console.print(facts(_facts(cr)))
    console.print()
    for line in next_steps(cr):
        say(console, line)


def show_list(console: Console, found: list[dict[str, Any]], limit: int) -> None:
    if not found:
        console.print("No change requests. Open one: oreo upload P/D FILE")
        return
    made = table(
        "change request",
        "dataset",
        "state",
        "mode",
        "rows",
        "failed checks",
        "author",
        "changed (UTC)",
        "note",
        right=("failed checks",),
    )
    for cr in found:
        failed = sum(cr["checks"].get(kind) or 0 for kind in ("failed_fatal", "failed_warning"))
        made.add_row(
            cr["change_request_id"],
            f"{cr['project']}/{cr['dataset']}",
            state(cr["state"]),
            cr["mode"],
            changes(cr["counts"]),
            count(failed) if cr["validation_run_id"] else "-",
            cr["author"],
            moment(cr["updated_at"]),
            escape(cr["note"]),
        )
    console.print(made)
    if len(found) == limit:
        say(console, f"The newest {count(limit)}. For more: --limit N", "dim")


def next_steps(cr: dict[str, Any]) -> list[str]:
    """The command to run now, or that nothing is left to do."""
    where = f"{cr['project']}/{cr['dataset']}"
    what = f"{where} {cr['change_request_id']}"
    match CRState(cr["state"]):
        case CRState.RECEIVED | CRState.CONVERTED | CRState.STAGED | CRState.CHECKED:
            return ["Next: the platform stages and checks it. If none is running: oreo recover"]
        case CRState.IN_REVIEW:
            given = sum(approval["valid"] for approval in cr.get("approvals", ()))
            left = max(cr.get("approvals_needed", 1) - given, 0)
            steps = [f"Next: oreo cr diff {what}", f"      oreo cr approve {what} --wait"]
            if cr["checks"].get("failed_warning"):
                steps.insert(0, f"Next: oreo cr checks {what}   (warnings to acknowledge with --ack)")
                steps[1] = steps[1].replace("Next:", "     ")
            return [
                *steps,
                f"      {count(left)} more approval{'' if left == 1 else 's'} needed, not by {cr['author']}",
            ]
        case CRState.APPROVED | CRState.MERGING | CRState.MERGED:
            return ["Next: the platform merges it. If none is running: oreo recover"]
        case CRState.CLOSED:
            return [
                f"Done: version {cr['merged_version']} of {where}. See: oreo history {where}",
                f"To undo it: oreo cr revert {what}",
            ]
        case CRState.REFUSED:
            return [f"Next: oreo cr checks {what}   then mend the file and send it again"]
        case CRState.CONFLICTED:
            return [f"Next: oreo cr retry {what} --wait   stages it anew on main as it is now"]
        case CRState.FAILED:
            return [f"Next: mend the file and send it again, or: oreo cr retry {what}"]
        case ended:
            return [f"It is {ended}; nothing is left to do."]


def _facts(cr: dict[str, Any]) -> list[tuple[str, Any]]:
    upload = cr.get("upload")
    return [
        ("dataset", f"{cr['project']}/{cr['dataset']}"),
        ("author", cr["author"]),
        ("opened", f"{moment(cr['created_at'])} UTC, changed {moment(cr['updated_at'])}"),
        ("file", _file(upload) if upload else None),
        ("mode", cr["mode"]),
        ("versions", _versions(cr)),
        ("rows", _rows(cr["counts"])),
        ("new columns", ", ".join(f"{c['name']} ({c['type']})" for c in cr["new_columns"]) or None),
        ("checks", _checks(cr)),
        ("approvals", _approvals(cr) if "approvals" in cr else None),
        ("reason", Text(cr["reason"]) if cr["reason"] else None),
    ]


def _file(upload: dict[str, Any]) -> Text:
    bad = f", {count(upload['rows_rejected'])} bad" if upload["rows_rejected"] else ""
    rows = "" if upload["rows_read"] is None else f", {count(upload['rows_read'])} rows read{bad}"
    return Text(f"{upload['file_name']} ({size(upload['bytes'])}{rows})")


def _versions(cr: dict[str, Any]) -> str | None:
    if cr["base_version"] is None:
        return None
    merged = f", merged as version {cr['merged_version']}" if cr["merged_version"] is not None else ""
    return f"main {cr['base_version']} → staged {cr['staging_version']}{merged}"


def _rows(counts: dict[str, int | None]) -> Text | None:
    if counts.get("inserted") is None:
        return None
    return Text.assemble(
        changes(counts),
        (f"={count(counts.get('unchanged'))}", "dim"),
        ("  (+new ~changed -deleted =same)", "dim"),
    )


def _checks(cr: dict[str, Any]) -> Text | None:
    if cr["validation_run_id"] is None:
        return None
    found = cr["checks"]
    parts: list[Any] = [(f"{count(found.get('passed'))} passed", "green")]
    for kind, word, style in (
        ("failed_fatal", "failed (fatal)", "bold red"),
        ("failed_warning", "failed (warning)", "yellow"),
        ("errored", "erred", "red"),
    ):
        if found.get(kind):
            parts.append((f", {count(found[kind])} {word}", style))
    return Text.assemble(*parts)


def _approvals(cr: dict[str, Any]) -> Text:
    lines = []
    for approval in cr["approvals"]:
        void = "" if approval["valid"] else f" (void: {approval['void_reason']})"
        lines.append(
            (
                f"{approval['approver']}, {moment(approval['at'])} UTC{void}\n",
                "" if approval["valid"] else "dim",
            )
        )
        lines += [(f"  {name}: {reason}\n", "dim") for name, reason in approval["acknowledged"].items()]
    valid = sum(approval["valid"] for approval in cr["approvals"])
    return Text.assemble(*lines, f"{valid} of {cr['approvals_needed']}")
