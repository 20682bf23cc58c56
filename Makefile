# Every target here is also what CI runs; `make` alone lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PKG ?= ./...
# What a test of the whole runs under the race detector, instead of without it: goroutines are most of what these do.
# internal/platform/job would be one of them, but its tests keep jobs in the store, which takes the detector's compiler two
# minutes: `make test-race` runs it.
CONCURRENT = ./internal/platform/sqldb ./internal/platform/telemetry ./internal/notify/alert ./internal/notify/webhook ./internal/partner
ARGS ?=
FUZZTIME ?= 10s
SOAK ?= 30m
RACES ?= 1h
# Packages tested at once: one more than processors, because each waits for the disk, a browser or a process of its own a
# third of its time. More than a few only wait for the same disk.
PARALLEL ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 4 ? n + 1 : 4)))
# The tests' databases live in memory where 8 GB are free: a thousand small ones made and dropped are mostly waits for
# the disk. Durability is tested by kills of processes, which memory outlives as a disk does.
VIGIA_TEST_ROOM ?= $(shell awk '/^MemAvailable/ && $$2 > 8e6 {print "/dev/shm"}' /proc/meminfo 2>/dev/null)
PACKAGES ?=
# What a build says of itself.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
# The gate's tests fail where a component is missing. SQLite's half was run by `make test`.
GATE = VIGIA_TEST_GATE=1 VIGIA_TEST_ENGINES=$(ENGINES)
ENGINES ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# No flag here or in `make test` that a compiled package is named by: whatever `go run`, `go build` or `go test` compiled
# once is at hand for all of them. `make release` makes what is static and reproducible.
.PHONY: build
build: surroundings ## build bin/vigia
	go build -ldflags '-X main.version=$(VERSION) -X main.commit=$(COMMIT)' -o bin/vigia ./cmd/vigia

.PHONY: run
run: ## start the demo (ARGS="--listen :9000" for other options)
	go run ./cmd/vigia demo $(ARGS)

# The packages that take longest are begun first, so that none of them is left to run alone at the end.
LONGEST = ./cmd/vigia ./internal/app ./internal/web/api ./internal/store ./internal/web/console ./internal/dump/reader
# The same for newcomer and gate: what was tested by the same flags and does not ask where it is, Go has in its cache.
TEST_FLAGS = -vet=off -p $(PARALLEL) -timeout 30m
PACKAGES_TO_TEST = $(if $(filter ./...,$(PKG)),$(LONGEST) $$(go list ./...),$(PKG))

test test-whole test-concurrent: export VIGIA_TEST_ROOM := $(VIGIA_TEST_ROOM)

.PHONY: test
test: surroundings ## every package on SQLite, with nothing but Go (PKG=./internal/store/...)
	go run ./scripts/gotest $(TEST_FLAGS) $(PACKAGES_TO_TEST)
	$(if $(filter ./...,$(PKG)),go test -vet=off ./client/... ./clients/mcp/...)

.PHONY: gate
gate: ## what lands: make test, then PostgreSQL, browsers, clients, whole processes, race detector, linters; installs what it needs on Debian
	scripts/beside "$(MAKE) --no-print-directory tools bin/golangci-lint" $(MAKE) --no-print-directory test
	scripts/beside "nice $(MAKE) --no-print-directory tidy lint lint-api test-scripts" $(MAKE) --no-print-directory test-whole ENGINES=postgres
	$(MAKE) --no-print-directory test-concurrent

.PHONY: test-whole
test-whole: tools ## the tests that make test leaves to the gate (PKG=./internal/app; ENGINES=postgres without SQLite)
	$(GATE) scripts/with-postgres go run ./scripts/gotest $(TEST_FLAGS) $(PACKAGES_TO_TEST)
	$(if $(filter ./...,$(PKG)),cd bench && go test -vet=off ./...)

.PHONY: test-concurrent
test-concurrent: tools ## the packages of most goroutines under the race detector, about a minute
	scripts/install-tools --race
	$(GATE) CGO_ENABLED=1 scripts/with-postgres go test -vet=off -race -p $(PARALLEL) -timeout 10m $(CONCURRENT)

.PHONY: test-race
test-race: tools ## all tests under the race detector
	scripts/install-tools --race
	$(GATE) CGO_ENABLED=1 scripts/with-postgres go test -p $(PARALLEL) -race -timeout 60m $(PKG)
	cd client && CGO_ENABLED=1 go test -race ./...

.PHONY: test-long
test-long: tools bin/litestream bin/helm ## all tests at full size: crash, soak and scale runs included
	scripts/install-tools --long
	scripts/release-test
	scripts/image-test
	scripts/deploy-test
	$(GATE) VIGIA_TEST_LONG=1 scripts/with-postgres go test -p $(PARALLEL) -timeout 60m $(PKG)

# Left out: what breaks a table by a trigger, a constraint or another name, which a node must not do to a spread table; two
# damages that Citus does not let happen; plans that are forced to fit every partner, which it does not make; a lock_timeout
# of 300 ms, which a node does not give to its sessions on other nodes.
CITUS_SKIP = ^TestOnceStuckOwner$$|^TestOutbox$$|^TestOutboxIsAtomic$$|^TestBulkLeavesNoTrace$$|^TestRequestsOfOnePartnerBesideEachOther$$|^TestListSaysWhatIsKept$$|^TestCheck$$/postgres/partner_gone|^TestCheck$$/postgres/moved_seal
CITUS_PKG ?= ./internal/store ./internal/web/api ./internal/leak/... ./internal/partner/stored ./internal/cyber/stored ./internal/dump/intake/... ./internal/dump/feed
.PHONY: test-citus
test-citus: ## store and API suites, kills of the service and of nodes, moves of rows on Citus (PG_BIN=the folder of a PostgreSQL that has it; half an hour)
	scripts/tests-exist '$(CITUS_SKIP)' $(CITUS_PKG)
	$(GATE) scripts/with-citus go test -count=1 -p 1 -timeout 120m -run 'Test/postgres' -skip '$(CITUS_SKIP)' $(CITUS_PKG)
	$(GATE) scripts/with-citus go test -count=1 -timeout 60m -run '^TestKilledServer$$/postgres' ./cmd/vigia
	scripts/with-citus go run ./bench/citus -only rebalance,kill,coordinator -people 500

.PHONY: check
check: tidy verify ## the quick checks: format, vet, scripts, generated files
	go vet ./...
	go vet ./client/... ./clients/mcp/...
	cd bench && go vet ./...

.PHONY: tidy
tidy: ## format, scripts, modules: what neither the linter nor a test looks at; each generated file has a test of its own
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt these files:" >&2; echo "$$unformatted" >&2; exit 1; fi
	@for script in .ci/run scripts/*; do [[ -d $$script ]] || bash -n "$$script"; done
	cd client && go mod tidy -diff

.PHONY: lint
lint: bin/golangci-lint ## golangci-lint with .golangci.yml (builds the linter the first time, some minutes)
	bin/golangci-lint run $(PKG)
	cd client && ../bin/golangci-lint run --config ../.golangci.yml ./...
	cd clients/mcp && ../../bin/golangci-lint run --config ../../.golangci.yml ./...

.PHONY: test-scripts
test-scripts:
	scripts/with-postgres-test
	scripts/tests-exist '$(CITUS_SKIP)' $(CITUS_PKG)

.PHONY: lint-api
lint-api: ## lint the partner contract: any warning is an error
	scripts/npm-install
	scripts/lint-api

# The linter has a module of its own, so that its many dependencies never meet the product's.
bin/golangci-lint: tools/go.mod tools/go.sum
	cd tools && GOWORK=off go build -ldflags "-s -w" -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s) each
	FUZZTIME=$(FUZZTIME) scripts/fuzz

.PHONY: soak
soak: ## mixed load on a real server for SOAK (30m): goroutines, files and memory must not grow
	VIGIA_TEST_GATE=1 SOAK=$(SOAK) go test -count=1 -timeout 0 -v -run '^TestSoak$$' ./cmd/vigia

.PHONY: races
races: ## enrolments, sweeps, deletions, imports and kills on one PostgreSQL for RACES (1h), then a check of everything
	$(GATE) RACES=$(RACES) scripts/with-postgres go test -count=1 -timeout 0 -v -run '^TestRaces$$' ./cmd/vigia

.PHONY: mutation
mutation: bin/gremlins ## mutation testing of the packages that guard something (PACKAGES=./internal/platform/seal; slow)
	scripts/mutation $(PACKAGES)

.PHONY: vuln
vuln: bin/govulncheck ## known vulnerabilities of our dependencies; says so when its data cannot be had (VULNDB=address of a mirror)
	scripts/vuln

# Like the linter's, in a module of their own.
bin/gremlins: tools/proof/go.mod tools/proof/go.sum
	cd tools/proof && GOWORK=off go build -o ../../bin/gremlins github.com/go-gremlins/gremlins/cmd/gremlins

bin/govulncheck: tools/proof/go.mod tools/proof/go.sum
	cd tools/proof && GOWORK=off go build -o ../../bin/govulncheck golang.org/x/vuln/cmd/govulncheck

bin/litestream: tools/standby/go.mod tools/standby/go.sum
	cd tools/standby && GOWORK=off CGO_ENABLED=0 go build -o ../../bin/litestream github.com/benbjohnson/litestream/cmd/litestream

bin/helm: tools/chart/go.mod tools/chart/go.sum
	cd tools/chart && GOWORK=off CGO_ENABLED=0 go build -ldflags '-s -w' -o ../../bin/ helm.sh/helm/v3/cmd/helm

.PHONY: bench
bench: ## benchmarks, appended to bench/results/DATE.txt (BENCH=regexp, PROGRAMS=none)
	scripts/with-postgres scripts/bench

# PocketBase has a module of its own, like the linter, and is released from its folder examples/base.
.PHONY: compare
compare: ## Vigia beside PocketBase, into bench/README.md (some minutes; ARGS=-dry writes nothing)
	cd bench/sidebyside/peers && GOWORK=off go build -o ../../../bin/peers/ github.com/pocketbase/pocketbase/examples/base
	go run ./bench/sidebyside $(ARGS)

.PHONY: release
release: ## archives and packages for every system, list of parts, checksums and signature, in dist/ (SIGN_KEY=FILE)
	scripts/npm-install
	scripts/release

.PHONY: verify
verify: ## fail when a generated file is stale
	scripts/verify-generated

# One clear sentence for what would end a build or a test in many.
.PHONY: surroundings
surroundings:
	@scripts/surroundings

# The modules of other programs that the gate builds; the product's own were fetched by its build.
.PHONY: tools
tools:
	@scripts/install-tools
	@scripts/npm-install
	@cd client && GOWORK=off go mod download
	@for try in 1 2 3 4; do if (cd clients/generated/golang && GOWORK=off go mod download); then break; fi; sleep $$((try * 5)); done
