# What start.sh and stop.sh share. Sourced, never run.
export LC_ALL=C PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH"

fail() { printf 'testbed: %s\n' "$*" >&2; exit 1; }

# When a process began, in clock ticks since boot: with it a process id is never mistaken for another.
began() { # pid
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) } # the program's name may hold blanks and parentheses
  set -- $stat
  [ "$1" != Z ] && echo "${20}"
}

# Whether a daemon that was started here still runs; sets `pid`.
runs() { # name
  local time
  read -r pid time 2>/dev/null <"$folder/run/$1.process" && [ "$(began "$pid")" = "$time" ]
}
