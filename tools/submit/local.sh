#!/bin/sh
# A process for each shard, on this machine. 'warplens sweep --submit' replaces the words between @ signs.
# submit: sh @SCRIPT@
cd @FOLDER@ || exit
processes=
for shard in $(seq @SHARDS@); do
  @COMMAND@ --shard "$shard/@SHARDS@" &
  processes="$processes $!"
done
status=0
for process in $processes; do
  wait "$process" || status=$?
done
exit $status
