#!/usr/bin/env bash
# Everything that must hold, in one command (`make test`). Installs what is missing from the
# distribution's packages; needs nothing else but a Rust toolchain.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-auto}

step() { printf '\n== %s\n' "$*"; }

need() { # command, package
  command -v "$1" >/dev/null && return
  step "installing $2"
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$2"
}
need cc build-essential

step "formatting";  cargo fmt --all --check
step "lints";       cargo clippy --workspace --all-targets --locked -- -D warnings
step "tests";       cargo test --workspace --locked --quiet
step "documents";   RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
                    cargo xtask docs --check
step "licences";    cargo xtask licences
step "advisories";  cargo xtask advisories
step "release";     cargo xtask release
step "the static binary, whole stories"
HARP=target/x86_64-unknown-linux-gnu/release/harp cargo test --locked --quiet -p harp-cli --features stories

printf '\nall checks passed\n'
