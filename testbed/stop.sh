#!/usr/bin/env bash
# stop.sh [--remove] FOLDER: ends the jobs of a cluster of start.sh and stops its daemons, by process
# id and only those it started; --remove deletes the folder too. Doing it twice does no harm.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

remove=
[ "${1:-}" != --remove ] || { remove=yes; shift; }
[ $# = 1 ] || fail "usage: stop.sh [--remove] FOLDER"
[ -d "$1" ] || exit 0
folder=$(cd "$1" && pwd -P)
[ -f "$folder/etc/slurm.conf" ] && [ -d "$folder/run" ] || fail "$folder is no testbed"
client=(env SLURM_CONF="$folder/client/slurm.conf" timeout 5)

stop() { # name…: asks all, waits, insists
  local name patience=100 asked=()
  for name in "$@"; do
    runs "$name" && kill -TERM "$pid" 2>/dev/null && asked+=("$name")
  done
  for name in "${asked[@]+"${asked[@]}"}"; do
    while runs "$name" && ((patience-- > 0)); do sleep 0.05; done
    runs "$name" && kill -KILL "$pid" 2>/dev/null
  done
  for name in "$@"; do rm -f "$folder/run/$name.process"; done
}

stop watcher
if runs slurmctld; then # ended properly, accounting is right
  "${client[@]}" squeue -h -o %A 2>/dev/null | sort -u | xargs -r "${client[@]}" scancel -f 2>/dev/null
  for _ in {1..80}; do
    [ -n "$("${client[@]}" squeue -h -t R,CG,S -o %i 2>/dev/null)" ] || break
    sleep 0.1
  done
fi
daemons=()
for file in "$folder"/run/slurmd.*.process; do
  [ -e "$file" ] && daemons+=("$(basename "$file" .process)")
done
stop "${daemons[@]+"${daemons[@]}"}"
# What a job left behind carries both the cluster's configuration and a job id in its environment.
for process in /proc/[0-9]*; do
  grep -qzE "^SLURM_CONF=$folder/(etc|client)/slurm.conf$" "$process/environ" 2>/dev/null || continue
  if [ "$(cat "$process/comm" 2>/dev/null)" = slurmstepd ] ||
    grep -qz '^SLURM_JOB_ID=' "$process/environ" 2>/dev/null; then
    kill -KILL "${process#/proc/}" 2>/dev/null
  fi
done
stop slurmctld
stop slurmdbd
stop mariadbd
stop munged
[ -z "$remove" ] || rm -rf "${folder:?}"
exit 0
