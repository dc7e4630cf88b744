#!/usr/bin/env bash
# Runs a Windows program in Wine: go test -exec tools/wine.sh. Wine before 9 lacks a
# library without which no Go program starts; it is made where MinGW is installed.
set -euo pipefail
export WINEPREFIX="${WINEPREFIX:-${TMPDIR:-/tmp}/looprun-wine-$UID}" WINEDEBUG="${WINEDEBUG:--all}"
system="$WINEPREFIX/drive_c/windows/system32"
exec 9>"$WINEPREFIX.lock"
flock 9
if [ ! -d "$system" ]; then
  wineboot --init >/dev/null 2>&1
fi
if [ ! -e "$system/bcryptprimitives.dll" ]; then
  work=$(mktemp -d)
  cat >"$work/prng.c" <<'C'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T n) { return RtlGenRandom(to, (ULONG)n); }
C
  x86_64-w64-mingw32-gcc -shared -o "$system/bcryptprimitives.dll" "$work/prng.c" -ladvapi32 ||
    { echo "this Wine has no bcryptprimitives.dll; install gcc-mingw-w64-x86-64-win32, or Wine 9 or later" >&2; exit 1; }
  rm -r "$work"
fi
flock -u 9
exec wine "$@"
