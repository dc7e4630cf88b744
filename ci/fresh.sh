#!/usr/bin/env bash
# The first hour on a fresh machine: runs every make command that the README shows, in a clean
# clone of the last commit, with empty caches and an empty HOME. Then it runs their short forms
# once more with the filled caches and a temporary folder on the disk, as another user if this
# one is root.
set -euo pipefail
cd "$(dirname "$0")/.."
unset CDPATH GIT_DIR GIT_WORK_TREE
lines=$(awk '/^```/ { code = !code } code && /^make / { print $1, $2 }' README.md)
for line in 'make demo' 'make test'; do
  grep -qx "$line" <<<"$lines" || { echo "README.md does not have the line $line" >&2; exit 1; }
done

work=$(mktemp -d)
chmod 755 "$work"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT # the Go tool makes modules read-only
git clone -q "file://$PWD" "$work/looprun"
mkdir "$work/home" "$work/tmp"

# Only PATH, and the settings that the Go tool needs to fetch modules.
env=(PATH="$PATH" HOME="$work/home" GOMODCACHE="$work/modules" GOCACHE="$work/cache")
for name in GOPROXY GOSUMDB GONOPROXY GONOSUMDB GOPRIVATE GOINSECURE GOTOOLCHAIN GOFLAGS; do
  value=$(go env "$name")
  [ -z "$value" ] || env+=("$name=$value")
done
for name in HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR; do
  [ -z "${!name:-}" ] || env+=("$name=${!name}")
done

walk() { # walk LINE…
  for line; do
    printf '\n== %s: %s\n' "$user" "$line"
    (cd "$work/looprun" && time ${as[@]+"${as[@]}"} env -i "${env[@]}" bash -c "$line" </dev/null)
  done
}

as=() user=$(id -un)
mapfile -t first <<<"$lines"
walk "${first[@]}"

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  as=(setpriv --reuid=65534 --regid=65534 --clear-groups) user='another user'
  chown -R 65534:65534 "$work"
  theirs=
  while read -r dir; do # that user cannot read root's HOME
    if "${as[@]}" test -x "$dir"; then theirs+=${theirs:+:}$dir; fi
  done < <(tr : '\n' <<<"$PATH")
  env+=(PATH="$theirs")
fi
env+=(TMPDIR="$work/tmp")
walk "${first[@]/#make test/make test-short}"
[ -z "$(git -C "$work/looprun" -c safe.directory='*' status --porcelain)" ] || { echo "the clone was changed" >&2; exit 1; }
