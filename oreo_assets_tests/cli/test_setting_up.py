"""The first minutes: users, projects, doctor."""

from __future__ import annotations

from pathlib import Path

from .conftest import Oreo


def test_first_user_needs_no_token_and_is_admin(oreo: Oreo):
    # A token of another root may be in the environment still.
    ran = oreo("user", "add", "ada", "--role", "viewer", "--json", env={"OREO_TOKEN": "of-another-root"})
    assert ran.code == 0
    assert (ran.json["name"], ran.json["role"]) == ("ada", "admin")
    assert ran.json["token"].startswith("oreo_")
    oreo.tokens["ada"] = ran.json["token"]
    assert oreo("user", "add", "eve", "--role", "admin", user=None).code == 5
    assert oreo("project", "create", "shop", "--json").json == {"project": "shop", "created": True}
    assert oreo("project", "create", "shop", "--json").json == {"project": "shop", "created": False}
    assert [p["project"] for p in oreo("project", "list", "--json").json] == ["shop"]


def test_token_is_printed_once_and_easy_to_copy(shop: Oreo):
    ran = shop("user", "add", "eve", "--role", "reviewer", "--project", "shop")
    token = next(line for line in ran.out.split() if line.startswith("oreo_"))
    assert f"export OREO_TOKEN={token}" in ran.out
    assert shop("query", "shop/orders", "--token", token, user=None).code == 0
    again = shop("user", "add", "eve", "--role", "contributor", "--json").json
    assert again["token"] is None
    assert shop("user", "revoke", "eve", "--json").json == {"name": "eve", "revoked": True}
    assert shop("query", "shop/orders", "--token", token, user=None).code == 5
    eve = next(user for user in shop("user", "list", "--json").json if user["name"] == "eve")
    assert (eve["roles"], eve["revoked_at"] is None) == ({}, False)


def test_applying_a_file_that_says_what_is_there_changes_nothing(shop: Oreo, tmp_path: Path):
    import yaml

    from .lake_without_spark import ORDERS

    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "orders.yaml").write_text(yaml.safe_dump(ORDERS.as_json()))
    ran = shop("dataset", "apply", str(tmp_path / "files"), "--json")
    assert ran.json == {
        "datasets": [{"project": "shop", "dataset": "orders", "created": False, "changed": False, "changes": []}]
    }


def test_doctor_starts_nothing_and_names_each_remedy(oreo: Oreo):
    ran = oreo("doctor", "--json", env={"JAVA_HOME": "/nowhere"})
    assert ran.code == 8
    assert ran.json["usable"] is False
    findings = {finding["name"]: finding for finding in ran.json["findings"]}
    assert findings["Java"]["status"] == "wrong"
    assert all(finding["remedy"] for finding in findings.values() if finding["status"] != "ok")
    assert findings["DuckDB"]["status"] == "ok"
    assert findings["Packages"]["status"] == "ok"
    assert not Path(oreo.env["DELTA_DATA_ROOT"] + ".oreo").exists()


def test_doctor_knows_who_is_asking(shop: Oreo):
    env = {"SPARK_REMOTE": "sc://127.0.0.1:1"}
    findings = {finding["name"]: finding for finding in shop("doctor", "--json", env=env).json["findings"]}
    assert findings["User"]["detail"].startswith("ada: admin")
    assert findings["Catalog"]["status"] == "ok"
    assert findings["Spark"]["status"] == "wrong"
    assert "User" in shop("doctor", "--token", "wrong").err


def test_engine_status_starts_nothing(oreo: Oreo):
    assert oreo("engine", "status", "--json").json["is_up"] is False
    assert oreo("engine", "stop", "--json").json["stopped"] is False
    assert oreo("engine", "start", env={"SPARK_MASTER": "local[1]"}).code == 2


def test_recover_on_a_healthy_root_has_nothing_to_do(shop: Oreo):
    assert shop("recover").out == "Nothing to do.\n"
    assert shop("recover", "--json").json == {"recovered": [], "driven": []}
    assert shop("recover", user=None).code == 5


def test_maintenance_dry_runs(shop: Oreo):
    reports = shop("maintain", "checkpoint", "shop/orders", "--dry-run", "--json").json["reports"]
    assert reports == [
        {
            "dataset": "shop/orders",
            "chore": "checkpoint",
            "dry_run": True,
            "summary": "would checkpoint version 1",
        }
    ]
    assert shop("maintain", "cleanup", "--json").json["reports"][0]["change_requests"] == []
    assert shop("maintain", "cleanup", "shop/orders", user="rev").code == 5
