#!/usr/bin/env bash
# Installs what the testbed needs from the distribution's packages, where it is missing.
set -euo pipefail

missing=()
while read -r program package; do
  PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null || missing+=("$package")
done <<'END'
munged munge
mariadbd mariadb-server-core
slurmdbd slurmdbd
slurmctld slurmctld
slurmd slurmd
sbatch slurm-client
END
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
# The packages would start daemons of their own for the whole machine; in run level 1 they do not.
install=("${as_root[@]}" env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120)
"${as_root[@]}" apt-get update -qq
"${install[@]}" "${missing[@]}" >/dev/null
