#!/usr/bin/env bash
# The browser tests drive a real Chromium; bring one where that can be done without asking.
set -euo pipefail

for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name" >/dev/null; then exit 0; fi
done

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "test: installing Chromium for the browser tests"
    if apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; then
        exit 0
    fi
fi

cat >&2 <<'MESSAGE'
**********************************************************************************
  No Chromium or Chrome is installed: THE BROWSER TESTS WILL NOT RUN.
  Debian: sudo apt-get install chromium     macOS: brew install --cask google-chrome
**********************************************************************************
MESSAGE
