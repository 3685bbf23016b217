#!/usr/bin/env bash
# Debian's Chromium for the browser tests, if there is none yet. Never fails: without a browser those tests are skipped
# and say why.
set -u

for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
  if command -v "$name" > /dev/null; then exit 0; fi
done

skip() {
  echo "No Chromium, and none could be installed ($1): the browser tests will be skipped." >&2
  exit 0
}

command -v apt-get > /dev/null || skip "there is no apt-get"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2> /dev/null || skip "that needs root"
  as_root=(sudo -n)
fi

# A mirror that does not answer must not stop the tests for long.
options=(-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Dpkg::Use-Pty=0)
apt() { timeout 400 "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" "$@" > /dev/null 2>&1; }

echo "Installing Chromium for the browser tests …" >&2
apt update || skip "apt-get update failed"
apt install -y --no-install-recommends chromium fonts-dejavu-core || skip "apt-get install failed"
