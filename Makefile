# assay: what to type. `make help` lists it.
.DEFAULT_GOAL := help
.PHONY: help build demo test check bench fidelity fit clean

help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: ## the release build; prints where it is
	@cargo build --release -p assay-cli
	@. scripts/lib.sh && echo "$$(target_directory)/release/assay"

demo: ## both simulated drives and a file, one HTML report; about a minute once built
	@cargo build --release -p assay-cli
	@scripts/demo

test: ## everything: project rules, tests, the README's commands; as root it installs what is missing
	@scripts/ensure-packages
	@scripts/test

check: ## formatting, lints and documentation, nothing run
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items

bench: ## speed against fio; minutes. BENCH="--quick null" picks, BENCH="--markdown docs/benchmarks.md" records
	@scripts/ensure-packages
	@cargo build --release -p assay-cli -p assay-bench
	@. scripts/lib.sh && "$$(target_directory)/release/assay-bench" --assay "$$(target_directory)/release/assay" $(BENCH)

fidelity: ## docs/fidelity.md and fidelity.html anew: every published figure beside the simulated one; minutes
	cargo build --release -p assay-cli
	@. scripts/lib.sh && "$$(target_directory)/release/assay" fidelity -o fidelity.html --markdown docs/fidelity.md --table reference/fidelity.csv

fit: ## the shipped profiles fitted anew as profiles/fits.toml says; FIT=samsung-951 picks one; minutes each
	cargo build --release -p assay-cli
	@scripts/fit $(FIT)

clean: ## removes what was built and demo-out
	cargo clean
	rm -rf demo-out
