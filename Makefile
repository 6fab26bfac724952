# The chores of harp. `make test` is the one command that says whether everything holds.
.PHONY: test release bench docs

test:
	./tests.sh

# The static binary, in target/x86_64-unknown-linux-gnu/release/harp
release:
	cargo xtask release

bench:
	cargo bench -p harp-measure
	cargo bench -p harp-history
	cargo bench -p harp-cli

# Rewrites the files that are generated from the code
docs:
	cargo xtask docs
