"""What the dataset is declared to be."""

from __future__ import annotations

from typing import Any

from ....model.spec import DatasetSpec
from ..elements import el, fact, facts, section, table
from ..notices import empty
from ..visit import Visit
from ..words import count, sign


async def draw(_visit: Visit, card: dict[str, Any]) -> None:
    spec = DatasetSpec.model_validate(card["spec"])
    with (
        section("Columns", anchor="columns", flush=True, note=count(len(spec.columns), "column")),
        table("Column", "Type", "Null", "Key", "Description", caption="Columns"),
    ):
        for column in spec.columns:
            with el("tr"):
                el("td", "wrap", column.name)
                with el("td"):
                    el("code", "", column.type)
                el("td", "soft", "may be null" if column.nullable else "never null")
                el("td", "", "key" if column.name in spec.key else "")
                el("td", "soft wrap", column.description)
    with section("Checks", anchor="expectations", flush=True, note=count(len(spec.check_names), "check")):
        if not spec.check_names:
            empty("None are declared.", "Every dataset is checked for nulls and repeated rows all the same.")
            return
        with table("Check", "Severity", "What it asks", caption="Checks"):
            for expectation in spec.expectations:
                with el("tr"):
                    el("td", "wrap", expectation.check_name)
                    with el("td"), el("span", "o-row"):
                        sign(str(expectation.severity))
                        el("span", "", str(expectation.severity))
                    with el("td", "wrap"):
                        el("code", "", expectation.type)
                        told = ", ".join(f"{name} = {value}" for name, value in expectation.arguments.items())
                        el("div", "soft small", told)
            for name, rule in spec.constraints.items():
                with el("tr"):
                    el("td", "wrap", name)
                    with el("td"), el("span", "o-row"):
                        sign("fatal")
                        el("span", "", "constraint")
                    with el("td", "wrap"):
                        el("code", "", rule)
    with section("Rules", anchor="rules"), facts():
        for words, value in (
            ("row_id comes from", f"the {spec.row_id_rule}" if spec.row_id_rule != "generated" else "Oreo itself"),
            ("Partitioned by", ", ".join(spec.partition_by) or "nothing"),
            ("Approvals needed", str(spec.approvals)),
            ("New columns in a file", spec.policies.new_columns),
            ("Conflicts are found by", spec.policies.conflicts),
            ("Time travel", count(spec.policies.time_travel_days, "day")),
        ):
            with fact(words):
                el("span", "", value)
