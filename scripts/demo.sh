#!/usr/bin/env bash
# The demo: backfill the shipped sample documents, then search them. Arguments: the environment's bin folder and
# a folder for the demo's state.
set -euo pipefail
bin=$1
export CORPUS_HOME=$2

echo "== backfill samples/documents into project demo"
"$bin/corpus" backfill samples/documents --project demo --source-name samples
for query in "Who rescued the seven men from the schooner?" "What air pressure does the diaphone need?"; do
  echo
  echo "== corpus search \"$query\" --project demo"
  "$bin/corpus" search "$query" --project demo --top-k 3
done
echo
echo "State lies in $CORPUS_HOME. Ask your own: CORPUS_HOME=$CORPUS_HOME $bin/corpus search \"...\" --project demo"
