# Build targets of assay; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: rtl-bench rtl-cocotb help build dist licences demo test test-long soak fuzz fuzz-properties rtl rtl-long registers check bench fidelity statistics fleet-scaling predictions fit clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: ## release build; prints the path of the binary
	@cargo build --release -p assay-cli
	@. scripts/lib.sh && echo "$$(target_directory)/release/assay"

dist: ## packages with a static, optimised binary: tarball, Debian package, Python wheel; installs and runs each; minutes
	@scripts/ensure-packages dist
	@scripts/dist
	@. scripts/lib.sh && scripts/test-packages "$$(target_directory)/dist-packages"

licences: ## regenerate crates/cli/licences.txt, which `assay licenses` prints, after a change of dependencies
	@scripts/licences

demo: ## measure two simulated drives and a file, one HTML report; about a minute after the build
	@cargo build --release -p assay-cli
	@scripts/demo

test: ## project rules, all tests, the README's commands; as root installs missing programs
	@scripts/ensure-packages
	@scripts/test

test-long: ## what make test samples, complete: random sequences of the core, 10,000 simulations of the tool with faults, power losses of a fleet task, memory of large run folders, waits of hosts, 2,000 job files through fio
	@scripts/ensure-packages
	@ASSAY_TESTS_LONG=1 cargo test -p assay-cosim --test tests -- sequences::
	@ASSAY_TESTS_LONG=1 cargo test -p assay-execute --test tests -- host_waits::
	@ASSAY_TESTS_LONG=1 cargo test -p assay-fio-job --test differential
	@cargo test -p assay-cli --features s3 --test e2e --test simulation -- --ignored

soak: ## long processes side by side (a served drive, a recorder, a fleet with faults, a job), whose memory must not grow; HOURS=6, a fraction, or minutes (30m)
	@scripts/soak $(or $(HOURS),6)

fuzz: ## coverage-guided fuzzing of every parser of foreign bytes; T=10m per target, TARGETS="journal suite" selects
	@scripts/fuzz $(or $(T),10m) $(TARGETS)

fuzz-properties: ## repeat the property tests with new random cases; MINUTES=10
	@scripts/fuzz-properties $(MINUTES)

rtl: ## hardware core: lint, proofs, all mutants that the proofs must find, area, packages, all scenarios of the cocotb bench
	@scripts/ensure-packages
	@hardware/rtl/check

rtl-long: ## hardware core: tests of every configuration and the long ones, faults that the co-simulation must find, coverage, place and route on an ECP5, sweep of streams to 4 GiB
	@scripts/ensure-packages
	@ASSAY_TESTS_LONG=1 cargo test -p assay-cosim --features all-configurations -- --include-ignored
	@hardware/rtl/check cosim-mutants coverage clock
	@$(MAKE) --no-print-directory rtl-bench CORE="sweep 32768"

rtl-bench: ## hardware core, simulated: cycles per chunk, all widths, drives, plans, sweep to 512 MiB; an hour. CORE="sweep 1024" selects
	@cargo build --release -p assay-cosim --features all-configurations --example performance
	@. scripts/lib.sh && core="$$(target_directory)/release/examples/performance" && "$$core" $(or $(CORE),all 4096)

rtl-cocotb: ## hardware core: all scenarios of the public bench (hardware/cocotb) in six configurations; NVS_SEED=N chooses the random numbers
	@hardware/rtl/check bench

registers: ## regenerate the hardware core's register file, its Rust constants, register map, C header and SystemRDL from hardware/rtl/registers.toml
	cargo run -q -p assay-register-map

check: ## formatting, lints and documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --features assay-cli/s3 -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items

bench: ## benchmarks against fio; minutes. BENCH="--quick null" selects, BENCH="--record docs" records
	@scripts/ensure-packages
	@cargo build --release -p assay-cli -p assay-bench
	@. scripts/lib.sh && "$$(target_directory)/release/assay-bench" --assay "$$(target_directory)/release/assay" $(BENCH)

fidelity: ## regenerate docs/fidelity.md and fidelity.html: published and simulated figures; minutes
	cargo build --release -p assay-cli -p assay-cross-validation
	@. scripts/lib.sh && "$$(target_directory)/release/assay" fidelity -o fidelity.html --markdown docs/fidelity.md --table reference/fidelity.csv
	@. scripts/lib.sh && { echo; "$$(target_directory)/release/assay-cross-validation" markdown; } >> docs/fidelity.md

statistics: ## repeat the simulations of intervals and comparisons: tables of docs/statistics.md; a minute
	cargo build --release -p assay-stats --example statistics
	@. scripts/lib.sh && "$$(target_directory)/release/examples/statistics" docs/statistics.md

fleet-scaling: ## Slurm on 8 to 64 hosts of this machine, as root: the table of docs/fleet.md; minutes
	@scripts/ensure-packages
	@cargo test -p assay-cli --test fleet -- --ignored --nocapture scaling_table

predictions: ## repeat the cross-validation: tables in reference/; minutes. PART=folds, PART=twins or PART=public selects
	cargo build --release -p assay-cross-validation
	@. scripts/lib.sh && for part in $(or $(PART),folds twins public); do "$$(target_directory)/release/assay-cross-validation" $$part -o reference || exit; done

fit: ## fit the shipped profiles by profiles/fits.toml; FIT=samsung-951 selects one; minutes each
	cargo build --release -p assay-cli
	@scripts/fit $(FIT)

clean: ## remove build outputs and demo-out
	cargo clean
	rm -rf demo-out
