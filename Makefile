# Latchkey. Every target installs the Debian packages it needs first and says so.
SHELL := /bin/bash
.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

.PHONY: demo
demo: ## a Swift program and the command line on one throw-away keychain; $HOME stays untouched
	@scripts/bootstrap build
	@scripts/demo

.PHONY: test
test: ## everything that must pass, with seconds per stage
	@scripts/bootstrap test
	@scripts/test

.PHONY: test-peers
test-peers: ## what needs big packages: imports through KeePassXC's own tool and the real pass; Secret Service beside gnome-keyring, and its clients; prompts and clipboards on displays
	@scripts/bootstrap import-peers
	@scripts/bootstrap display-peers
	@swift build --build-tests
	@scripts/test-import-peers
	@scripts/test-secret-service-differential
	@scripts/test-secret-service-peers --service both
	@LATCHKEY_TEST_DISPLAY=1 swift test --skip-build --no-parallel \
		--filter '^PersonPromptTests\.(GraphicalPromptTests|GnomePromptTests|WaylandPromptTests)/' \
		--filter '^LatchkeyCommandTests\.RealClipboardTests/'

.PHONY: newcomer
newcomer: ## the README's commands in a bare Debian, from clone to a fetched secret; writes docs/newcomer-transcript.md
	@scripts/bootstrap newcomer
	@scripts/newcomer

.PHONY: fuzz
fuzz: ## libFuzzer over every decoder; FUZZ_SECONDS=60 a target, FUZZ_TARGET=name for one
	@scripts/bootstrap test
	@scripts/fuzz $(FUZZ_TARGET)

.PHONY: sanitize
sanitize: ## the engine's tests under AddressSanitizer, then under ThreadSanitizer
	@scripts/bootstrap test
	@scripts/sanitize

.PHONY: load
load: ## 64 clients, 10 000 dropped connections and hostile readers for two minutes; answers checked
	@scripts/bootstrap build
	@scripts/load

.PHONY: bench
bench: ## speed beside raw floors; BENCH_FULL=1: a million items too; BENCH_PEERS=1: gnome-keyring beside ours
	@scripts/bootstrap $(if $(filter-out 0,$(BENCH_PEERS)),peers,bench)
	@scripts/bench

.PHONY: bench-counts
bench-counts: ## instructions and allocations of a read and an add, under callgrind
	@scripts/bootstrap bench
	@scripts/bench-counts

.PHONY: bench-secret-service
bench-secret-service: ## a lookup and a store over the session bus, beside a floor without a store; BENCH_PEERS=1: gnome-keyring beside ours; BENCH_FULL=1: 50 000 items too
	@scripts/bootstrap $(if $(filter-out 0,$(BENCH_PEERS)),differential,test)
	@scripts/bootstrap build
	@scripts/build-release latchkeyd latchkey-enclave latchkey latchkey-secret-service latchkey-prompt
	@scripts/bench-secret-service $(if $(filter-out 0,$(BENCH_PEERS)),--peers) $(if $(filter-out 0,$(BENCH_FULL)),--full)

.PHONY: bench-record
bench-record: ## everything of bench and bench-counts, kept under docs/benchmarks; wants a quiet machine
	@scripts/bootstrap peers
	@scripts/bootstrap differential
	@scripts/bootstrap build
	@scripts/bench-record

.PHONY: build
build: ## release programs, as static executables, in .build/release
	@scripts/bootstrap build
	@scripts/build-release

.PHONY: deb
deb: ## Debian packages in .build/deb, looked at by lintian; `make test-deb` tries them in a bare Debian
	@scripts/bootstrap deb
	@scripts/build-deb

.PHONY: test-deb
test-deb: deb ## the Debian packages installed, used, removed and purged in a bare Debian, and in one that booted (root)
	@scripts/test-deb
	@scripts/test-booted

.PHONY: install
install: build ## programs, modules and the toolset, under PREFIX (default /usr/local, or ~/.local where not root)
	@scripts/install

.PHONY: uninstall
uninstall: ## what install put there; keychains stay
	@scripts/uninstall

.PHONY: docs
docs: ## the products' documentation (DocC), in .build/docs
	@scripts/bootstrap docs
	@swift build --target KeychainTesting
	@swift build --target KeychainDerivation
	@swift build --target KeychainAuthentication
	@scripts/documentation

.PHONY: format
format: ## swift-format over our sources
	swift format --in-place --recursive Sources Tests Package.swift AppleModules

.PHONY: clean
clean: ## removes what was built
	rm -rf .build .layer.* .build-fuzz .build-asan .build-tsan AppleModules/.build bench-results
