#!/usr/bin/env bash
# Everything that must hold, in one command (`make test`). Installs what is missing from the
# distribution's packages; needs nothing else but a Rust toolchain.
set -euo pipefail
cd "$(dirname "$0")"

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
testbed/packages.sh # Slurm, for the tests that talk to a real one

step "formatting"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

step "tests of the rooms"
cargo test --workspace --exclude harp-cli --locked

step "documents"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
cargo xtask docs --check

step "licences and advisories"
cargo xtask licences
cargo xtask advisories

step "the static binary"
cargo xtask release

# One after the other: these tests measure programs, and programs side by side disturb each other.
step "whole stories, told with the static binary"
HARP=target/x86_64-unknown-linux-gnu/release/harp cargo test --package harp-cli --locked -- --test-threads=1

printf '\nall checks passed\n'
