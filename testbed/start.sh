#!/usr/bin/env bash
# start.sh FOLDER: starts a private Slurm cluster with accounting, and prints the file to source.
#
#   . "$(testbed/start.sh /tmp/mine)" && sbatch --wrap hostname && sacct
#
# Everything is in FOLDER and on the loopback address; several clusters may run side by side. Called
# again it starts what does not run and keeps jobs and accounting. stop.sh stops it.
#   TESTBED_OWNER=PID   stops and removes the cluster by itself once that process is gone
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"
. "$here/configuration.sh"

[ $# = 1 ] || fail "usage: start.sh FOLDER"
for program in munged mariadbd slurmdbd slurmctld slurmd sbatch; do
  command -v "$program" >/dev/null || fail "$program is missing; testbed/packages.sh installs it"
done
mkdir -p "$1"
folder=$(cd "$1" && pwd -P)
[ ${#folder} -le 80 ] || fail "the folder's path is too long for a socket: $folder"
me=$(id -un)
umask 022
mkdir -p "$folder"/{etc,client,log,run,state,spool}
for node in "${nodes[@]}"; do mkdir -p "$folder/spool/$node"; done

# One start at a time: two could choose the same ports. The lock is this file itself.
exec {lock}<"${BASH_SOURCE[0]}"
flock -w 120 "$lock" || fail "another start is stuck"

choose_ports() { # as many in a row as there are daemons with one, below the range the kernel hands out
  local want=$((${#nodes[@]} + 2)) try port taken
  taken=" $(awk 'FNR > 1 { split($2, place, ":"); print place[2] }' /proc/net/tcp /proc/net/tcp6 2>/dev/null |
    while read -r port; do echo $((16#$port)); done | tr '\n' ' ') "
  for try in {1..100}; do
    first_port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    for ((port = first_port; port < first_port + want; port++)); do
      [[ $taken != *" $port "* ]] || continue 2
    done
    return
  done
  fail "no free ports"
}
[ -s "$folder/etc/first_port" ] || { choose_ports; echo "$first_port" >"$folder/etc/first_port"; }
first_port=$(<"$folder/etc/first_port")

# Slurm binds to the address of the machine's own name. Where that is not the loopback address, the
# daemons live in a namespace in which the machine is called localhost.
communication=CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
namespace=()
if [ "$(getent ahostsv4 "$(hostname)" | awk '{ print $1; exit }')" != 127.0.0.1 ]; then
  if unshare --uts hostname localhost 2>/dev/null; then
    namespace=(unshare --uts sh -c 'hostname localhost; exec "$@"' sh)
  else
    communication= # not allowed here: the daemons listen everywhere, and munge keeps strangers out
  fi
fi

if [ ! -s "$folder/etc/munge.key" ]; then
  (umask 077; head -c 128 /dev/urandom >"$folder/etc/munge.key")
fi
write_configuration
# A start that fails leaves nothing running.
trap '[ $? = 0 ] || "$here/stop.sh" "$folder"' EXIT

launch() { # name, command…: in the background, its process noted
  local name=$1
  shift
  SLURM_CONF="$folder/etc/slurm.conf" MYSQL_UNIX_PORT="$folder/run/mariadb.socket" \
    setsid "${namespace[@]}" "$@" {lock}<&- </dev/null >>"$folder/log/$name.out" 2>&1 &
  echo "$! $(began $!)" >"$folder/run/$name.process"
}
wait_for() { # name, command…: until the command succeeds
  local name=$1 patience=600
  shift
  until "$@" >/dev/null 2>&1; do
    runs "$name" || { tail -n 20 "$folder/log/$name".* >&2; fail "$name ended while starting"; }
    ((patience-- > 0)) || { tail -n 20 "$folder/log/$name".* >&2; fail "$name is not ready after a minute"; }
    sleep 0.1
  done
}
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

if [ -n "${TESTBED_OWNER:-}" ] && ! runs watcher; then
  launch watcher bash -c \
    'while [ -d "/proc/$1" ]; do sleep 0.5; done; rm -f "$3/run/watcher.process"; exec "$2" --remove "$3"' \
    watcher "$TESTBED_OWNER" "$here/stop.sh" "$folder"
fi

if ! runs munged; then
  rm -f "$folder"/run/munge.socket*
  launch munged munged --foreground --force --num-threads=2 --key-file="$folder/etc/munge.key" \
    --socket="$folder/run/munge.socket" --pid-file="$folder/run/munged.pid" \
    --log-file="$folder/log/munged.log" --seed-file="$folder/run/munge.seed"
fi
database=(--no-defaults --user="$me" --datadir="$folder/database" --innodb-log-file-size=16M
  --innodb-buffer-pool-size=64M --innodb-flush-method=nosync --innodb-flush-log-at-trx-commit=0
  --innodb-lock-wait-timeout=900 --innodb-data-file-path=ibdata1:4M:autoextend
  --innodb-temp-data-file-path=ibtmp1:4M:autoextend)
if ! runs mariadbd; then
  if [ ! -e "$folder/database.made" ]; then
    rm -rf "$folder/database"
    mkdir -m 700 "$folder/database"
    # The server's own tables and nothing else: no help texts, no time zones, no users.
    { printf 'CREATE DATABASE mysql;\nUSE mysql;\n'; cat /usr/share/mysql/mysql_system_tables.sql; } |
      mariadbd "${database[@]}" --bootstrap >"$folder/log/bootstrap.out" 2>&1 ||
      { tail "$folder/log/bootstrap.out" >&2; fail "the database could not be made"; }
    touch "$folder/database.made"
  fi
  rm -f "$folder/run/mariadb.socket"
  # Reached through a socket alone, which is closed to others below.
  launch mariadbd mariadbd "${database[@]}" --skip-networking --skip-grant-tables --skip-log-bin \
    --performance-schema=0 --socket="$folder/run/mariadb.socket" --pid-file="$folder/run/mariadbd.pid"
fi
wait_for munged test -S "$folder/run/munge.socket"
wait_for mariadbd test -S "$folder/run/mariadb.socket"
chmod 700 "$folder/run/mariadb.socket"
runs slurmdbd || launch slurmdbd slurmdbd -D
wait_for slurmdbd listens "$first_port"
runs slurmctld || launch slurmctld slurmctld -D
for node in "${nodes[@]}"; do
  runs "slurmd.$node" || launch "slurmd.$node" slurmd -D -N "$node"
done
wait_for slurmctld listens $((first_port + 1))

. "$folder/environment.sh"
if [ ! -e "$folder/accounts.made" ]; then
  {
    sacctmgr -i add cluster testbed || true # the controller may have been faster
    sacctmgr -i add account physics Description=physics Organization=testbed
    sacctmgr -i add account biology Description=biology Organization=testbed
    sacctmgr -i add user "$me" Account=physics DefaultAccount=physics AdminLevel=Administrator
    sacctmgr -i add user "$me" Account=biology
  } >"$folder/log/accounts.out" 2>&1 || { tail "$folder/log/accounts.out" >&2; fail "no accounts"; }
  touch "$folder/accounts.made"
fi
all_up() { # after a crash nodes may come back drained: they are asked to go on
  local states bad
  states=$(sinfo -h -N -o '%N %T') || return 1
  bad=$(awk '$2 ~ /^(down|drain|inval)/ && $2 !~ /\*$/ { print $1 }' <<<"$states" | sort -u | paste -sd,)
  [ -z "$bad" ] || scontrol update nodename="$bad" state=resume
  ! awk '{ print $2 }' <<<"$states" | grep -qvE '^(idle|mixed|allocated|completing)$'
}
wait_for slurmctld all_up

echo "$folder/environment.sh"
