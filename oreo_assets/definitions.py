"""The code location that Dagster loads. Datasets are looked up anew whenever it does."""

import dagster as dg


@dg.definitions
def defs() -> dg.Definitions:
    from .defs.build import build_definitions
    from .settings import Settings

    return build_definitions(Settings.from_env())
