#!/usr/bin/env bash
# `make setup`: needs only Python 3.11-3.13 and Java; brings uv itself if the machine has none.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'setup: %s\n       %s\n' "$1" "$2" >&2; exit 1; }

python_for_us() {
    for name in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python; do
        if "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            "$name" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    fail "Python 3.11, 3.12 or 3.13 is not installed." \
        "Debian or Ubuntu: sudo apt-get install python3 python3-venv. macOS: brew install python@3.12."
}

# A venv of its own for uv, as the system's Python may refuse installs (PEP 668).
find_uv() {
    if command -v uv; then return; fi
    if [ ! -x .venv-uv/bin/uv ]; then
        rm -rf .venv-uv
        if "$python" -c 'import ensurepip' 2>/dev/null; then
            "$python" -m venv .venv-uv >&2
            .venv-uv/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.8' >&2
        elif "$python" -m pip --version >/dev/null 2>&1; then
            # Debian without python3-venv: pip can still fill a folder, which is all that uv needs.
            "$python" -m pip install --quiet --disable-pip-version-check --target .venv-uv 'uv>=0.8' >&2
        else
            fail "This Python has neither venv nor pip, so uv cannot be installed." \
                "Debian or Ubuntu: sudo apt-get install python3-venv. Or install uv yourself: https://docs.astral.sh/uv"
        fi
    fi
    echo "$PWD/.venv-uv/bin/uv"
}

# The stamp names everything set-up depends on; when it matches there is nothing to do.
# The jars are looked at too, as they live outside this folder.
stamp=.venv/.setup-stamp
wanted=$(cksum pyproject.toml uv.lock .ci/bootstrap.sh; echo "home ${OREO_HOME:-$HOME/.oreo} java ${JAVA_HOME:-}")
if [ -x .venv/bin/oreo ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] &&
    ls "${OREO_HOME:-$HOME/.oreo}"/jars/*/manifest.json >/dev/null 2>&1 &&
    { [ -n "${JAVA_HOME:-}" ] || command -v java >/dev/null; }; then
    exit 0
fi

python=$(python_for_us)
uv=$(find_uv)
echo "setup: Python packages from uv.lock"
# An existing environment keeps its Python; a new one gets the machine's, never a downloaded one.
[ -x .venv/bin/python ] || "$uv" venv --quiet --python "$python" .venv
# Compiled now, or every first import of each package would pay for it (and, in some set-ups, every import).
UV_PROJECT_ENVIRONMENT=.venv UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1 "$uv" sync --frozen --quiet ||
    fail "The packages could not be installed (see above)." \
        "Check that this machine reaches PyPI or a mirror (UV_DEFAULT_INDEX), then run make setup again."
echo "setup: Java, Delta jars, class archive"
.venv/bin/python -m oreo_assets.lake.provision
echo "$wanted" >"$stamp"
echo "setup: done"
