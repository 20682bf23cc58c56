# Every target here is also what CI runs; `make` alone lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PKG ?= ./...
# What takes longest is tested first, so that no long package is left to run alone at the end. The linter vets.
LONGEST = ./internal/app ./internal/web/api ./cmd/vigia ./internal/store
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

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/vigia, static and reproducible
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)' -o bin/vigia ./cmd/vigia

.PHONY: run
run: ## start the demo (ARGS="--listen :9000" for other options)
	go run ./cmd/vigia demo $(ARGS)

# A test that fails tells its lines without what debuggers read, and to make that is a sixth of a compiler's work. What the
# targets below make with it is made anew by a plain `go build`.
test modules test-concurrent: export GOFLAGS += -gcflags=all=-dwarf=false

.PHONY: test
test: tools tidy ## what CI runs: install what is missing, quick checks, lint, all tests on both engines (PKG=./internal/store/...)
	packages="$(if $(filter ./...,$(PKG)),$(LONGEST) $$(go list ./... | grep -vxF "$$(go list $(CONCURRENT))"),$(PKG))"; \
	scripts/beside "nice $(MAKE) --no-print-directory lint lint-api test-scripts" env VIGIA_TEST_ROOM="$(VIGIA_TEST_ROOM)" scripts/with-postgres go test -vet=off -ldflags=-w -p $(PARALLEL) -timeout 30m $$packages
	$(if $(filter ./...,$(PKG)),$(MAKE) --no-print-directory test-concurrent)
	cd client && go test -vet=off ./...
	cd bench && go test ./...

.PHONY: test-concurrent
test-concurrent: ## the packages of most goroutines under the race detector: part of make test, about a minute
	scripts/install-tools --race
	VIGIA_TEST_ROOM="$(VIGIA_TEST_ROOM)" CGO_ENABLED=1 scripts/with-postgres go test -vet=off -race -p $(PARALLEL) -timeout 10m $(CONCURRENT)

.PHONY: test-race
test-race: ## all tests under the race detector
	scripts/install-tools --race
	CGO_ENABLED=1 scripts/with-postgres go test -p $(PARALLEL) -race -timeout 60m $(PKG)
	cd client && CGO_ENABLED=1 go test -race ./...

.PHONY: test-long
test-long: tools bin/litestream bin/helm ## all tests at full size: crash, soak and scale runs included
	scripts/install-tools --long
	scripts/release-test
	scripts/image-test
	scripts/deploy-test
	VIGIA_TEST_LONG=1 scripts/with-postgres go test -p $(PARALLEL) -timeout 60m $(PKG)

# Left out: what breaks a table by a trigger, a constraint or another name, which a node must not do to a spread table; two
# damages that Citus does not let happen; plans that are forced to fit every partner, which it does not make; a lock_timeout
# of 300 ms, which a node does not give to its sessions on other nodes.
CITUS_SKIP = ^TestOnceStuckOwner$$|^TestOutbox$$|^TestOutboxIsAtomic$$|^TestOldStatements$$|^TestBulkLeavesNoTrace$$|^TestBulkThatFailsTakesNobodyAlong$$|^TestListSaysWhatIsKept$$|^TestCheck$$/postgres/partner_gone|^TestCheck$$/postgres/moved_seal
CITUS_PKG ?= ./internal/store ./internal/web/api ./internal/leak/... ./internal/partner/stored ./internal/cyber/stored ./internal/dump/intake/... ./internal/dump/feed
.PHONY: test-citus
test-citus: ## store and API suites, kills of the service and of nodes, moves of rows on Citus (PG_BIN=the folder of a PostgreSQL that has it; half an hour)
	scripts/tests-exist '$(CITUS_SKIP)' $(CITUS_PKG)
	scripts/with-citus go test -count=1 -p 1 -timeout 120m -run 'Test/postgres' -skip '$(CITUS_SKIP)' $(CITUS_PKG)
	scripts/with-citus go test -count=1 -timeout 60m -run '^TestKilledServer$$/postgres' ./cmd/vigia
	scripts/with-citus go run ./bench/citus -only rebalance,kill,coordinator -people 500

.PHONY: check
check: tidy verify ## the quick checks: format, vet, scripts, generated files
	go vet ./...
	cd client && go vet ./...
	cd bench && go vet ./...

.PHONY: tidy
tidy: ## format, scripts, modules: what neither the linter nor a test looks at; each generated file has a test of its own
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt these files:" >&2; echo "$$unformatted" >&2; exit 1; fi
	@for script in .ci/run scripts/*; do bash -n "$$script"; done
	cd client && go mod tidy -diff

.PHONY: lint
lint: bin/golangci-lint ## golangci-lint with .golangci.yml (builds the linter the first time, some minutes)
	bin/golangci-lint run $(PKG)
	cd client && ../bin/golangci-lint run --config ../.golangci.yml ./...

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
	cd tools && GOWORK=off go build -gcflags=all=-dwarf=false -ldflags "-s -w" -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s) each
	FUZZTIME=$(FUZZTIME) scripts/fuzz

.PHONY: soak
soak: ## mixed load on a real server for SOAK (30m): goroutines, files and memory must not grow
	SOAK=$(SOAK) go test -count=1 -timeout 0 -v -run '^TestSoak$$' ./cmd/vigia

.PHONY: races
races: ## enrolments, sweeps, deletions, imports and kills on one PostgreSQL for RACES (1h), then a check of everything
	RACES=$(RACES) scripts/with-postgres go test -count=1 -timeout 0 -v -run '^TestRaces$$' ./cmd/vigia

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

.PHONY: tools
tools:
	@command -v go >/dev/null || { echo "Go is missing: install the version named in go.mod" >&2; exit 1; }
	@scripts/beside "scripts/install-tools && scripts/npm-install" $(MAKE) --no-print-directory modules

# Fetches modules, again if it must, and compiles everything once: the linter and the tests would each compile what the
# other has not yet come to. Packages of Debian and of npm are fetched meanwhile, which leaves a processor idle.
.PHONY: modules
modules:
	@for try in 1 2 3 4; do if go list -deps -test ./... >/dev/null 2>&1; then break; fi; sleep $$((try * 5)); done
	@for try in 1 2 3 4; do if (cd clients/generated/golang && GOWORK=off go mod download); then break; fi; sleep $$((try * 5)); done
	@go list -export -deps -test $(PKG) >/dev/null
