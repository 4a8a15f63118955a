#!/usr/bin/env bash
# fetch.sh VERSION FOLDER: fetches that version of Redisson, and builds the peer for it.
set -euo pipefail
version=$1 folder=$2
command -v mvn >/dev/null || { echo "mvn is missing: install Maven and a JDK 17 or newer" >&2; exit 1; }
[[ -f $folder/complete ]] && exit 0
rm -rf "$folder" && mkdir -p "$folder"
cp -r "$(dirname "${BASH_SOURCE[0]}")/pom.xml" "$(dirname "${BASH_SOURCE[0]}")/src" "$folder"
cd "$folder"
mvn -q -B "-Dredisson.version=$version" package dependency:copy-dependencies \
    "-DoutputDirectory=$folder/lib"
cp target/redisson-peer-1.jar "$folder"
touch complete
