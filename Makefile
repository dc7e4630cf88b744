# One command for each chore. CI calls the same ones.
SHELL       := /bin/bash
GO          ?= go
BIN         ?= bin/looprun
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT      := $(shell c=$$(git rev-parse HEAD 2>/dev/null) && echo "$$c$$(git diff --quiet HEAD || echo -dirty)")
DATE        := $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
PREFIX      ?= $(HOME)/.local
LDFLAGS     := -s -w -X main.stamp=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE)

.PHONY: all build install demo test test-short test-race lint fmt bench bench-replay profile stuckbench ablate fuzz torture sweeps windows-test examples clean

all: build

# One build cache serves every program, test and example, in any clone.
export GOFLAGS := -trimpath $(filter-out -trimpath,$(shell $(GO) env GOFLAGS))

build: ## build the programs, static, in bin/
	@echo "Building $(BIN) and $(dir $(BIN))looprun-serve; the first time takes a minute."
	@mkdir -p $(dir $(BIN))
	@CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/looprun
	@CGO_ENABLED=0 $(GO) build -ldflags '-s -w' -o $(dir $(BIN))looprun-serve ./cmd/looprun-serve

install: build ## install the programs into PREFIX/bin; PREFIX is ~/.local
	@mkdir -p "$(DESTDIR)$(PREFIX)/bin"
	@install -m 755 $(BIN) $(dir $(BIN))looprun-serve "$(DESTDIR)$(PREFIX)/bin"
	@echo "Installed looprun and looprun-serve in $(DESTDIR)$(PREFIX)/bin."
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo 'Your PATH does not contain that folder. This line adds it:'; echo '  export PATH="$(PREFIX)/bin:$$PATH"' ;; esac

demo: build ## run two loops on real input: one ends, one is stuck
	@echo "Running two loops in copies of examples/: one ends, one is stuck."
	@CGO_ENABLED=0 ./examples/demo.sh $(abspath $(BIN))

# Most tests wait for processes, so more tests than processors run at once. The time limit
# ends a test that hangs; even a busy machine needs far less.
TEST := $(GO) test -shuffle=on -p 4 -parallel 8 -timeout 60m
# What takes longest begins first.
LONGEST := ./internal/proc ./cmd/looprun
# Tests make and remove so many files that they take half the time on a file system in memory: it
# is used where TMPDIR is not set, there is room, and programs can run from it.
IN_MEMORY := if [ -z "$$TMPDIR" ] && d=$$(mktemp -d /dev/shm/looprun-XXXXXX 2>/dev/null); then \
  trap 'rm -rf "$$d"' EXIT; echo true >"$$d/try"; chmod 1777 "$$d" "$$d/try"; \
  if "$$d/try" 2>/dev/null && [ $$(df -Pk /dev/shm | awk 'END { print $$4 }') -gt 4000000 ]; then export TMPDIR=$$d; fi; fi;
test: ## run all tests, some on a sample of their cases; sweeps, torture, fuzz and agents-test run the long forms
	@echo "Running all tests; the first run takes some minutes longer."
	@$(IN_MEMORY) CGO_ENABLED=0 $(TEST) $(LONGEST) ./...

test-short: ## run short tests in a minute: no browser, one page of the docs, the beginning of each script, a twentieth of the repetitions
	@$(IN_MEMORY) CGO_ENABLED=0 $(TEST) -short $(LONGEST) ./...

RACE ?= ./...
test-race: ## run the short tests with the race detector; RACE="./internal/…" for some packages
	$(TEST) -race -short $(RACE)

lint: ## run gofumpt, vet (also for other systems), staticcheck
	@unformatted=$$($(GO) run $(GOFUMPT) -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	  if [ -n "$$unformatted" ]; then echo "not formatted (run make fmt):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags agents,dist,runners,torture ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) mod verify

fmt: ## format everything
	$(GO) run $(GOFUMPT) -w $$(git ls-files --cached --others --exclude-standard '*.go')

bench: build ## measure iterations, output, lines, many loops and signatures, as ratios; SECTIONS="limits …" for some
	@$(GO) run ./bench $(SECTIONS) $(CURDIR)/$(BIN)
	@echo; echo "signatures on log text: the scanner, a table-driven state machine, a regular expression for each mask, and the whole signature"
	@$(GO) test -run '^$$' -bench 'Scanner|Signer' ./signature | grep '^Benchmark'

bench-replay: build ## measure time and memory for each iteration in runs of 10^3 to 10^6 iterations, recorded and replayed; takes minutes
	@$(GO) run ./bench replay $(CURDIR)/$(BIN)

profile: ## write CPU and allocation profiles of an iteration and of output into bin/profile/
	@mkdir -p bin/profile
	@for what in Iteration:3000x Output:20x; do name=$${what%%:*}; \
	  $(GO) test -run '^$$' -bench "Benchmark$$name\$$" -benchtime $${what##*:} -o bin/profile/looprun.test \
	    -cpuprofile bin/profile/$$name.cpu -memprofile bin/profile/$$name.mem -memprofilerate 4096 ./cmd/looprun | grep '^Benchmark'; \
	  for kind in cpu mem; do echo; echo "$$name: $$kind"; $(GO) tool pprof -top -nodecount 15 $$($(GO) env GOFLAGS) -sample_index=$$([ $$kind = mem ] && echo alloc_space || echo cpu) bin/profile/looprun.test bin/profile/$$name.$$kind 2>/dev/null | tail -n +4; done; done

stuckbench: ## measure how well looprun recognises the same failure, on five sets of recorded outputs, next to baselines
	$(GO) test -count=1 -run 'TestStuckbench|TestCounts|TestBaselines' -v ./signature

ablate: ## switch off each function that reads output and find what fails without it; ten minutes; SINCE=REV: only those that changed since
	@$(GO) run ./tools/ablate $(if $(SINCE),-since $(SINCE),-max 5)

FUZZTIME ?= 30s
fuzz: ## run every fuzz target for FUZZTIME
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; done; done

torture: ## run the long forms of the reliability tests; TORTURE_RUNS=N kills N runs instead of 1,000
	$(GO) test -tags torture -count=1 -p 1 -timeout 60m . ./core ./engine ./internal/many ./internal/proc ./scratchpad ./cmd/looprun

# Each git that fails, each hostile text in each view, thousands of random runs, and the README twice.
SWEEPS := WhereGitFails|GitFailsAtAnyCall|HostileJournal|HoldsInvariants|LivesHold|PartsAreLeft|AgainstAdvice|AMaskSteers|DocsReadme|InputsAreData|TestMatrix($$|NoAnswer|Detached|EveryGuard|Kinds|NestedPrompt)
sweeps: ## run the long form of what make test only samples and takes minutes: failing gits, hostile text, random runs
	@CGO_ENABLED=0 $(GO) test -tags torture -count=1 -timeout 60m -run '$(SWEEPS)' ./ci ./core ./engine ./internal/many ./cmd/looprun

# The tests of these packages need no temporary folder, which Wine before 10 cannot remove.
WINDOWS_TESTS := ./signature ./guards/... ./internal/cost ./internal/waiting ./internal/ask ./protocol/ladder ./protocol/rejection \
  ./protocol/signal ./internal/strictyaml ./internal/cells ./internal/termsafe
windows-test: ## compile all tests for Windows; with Wine, also run the program and the tests that need no POSIX system
	GOOS=windows $(GO) test -count=1 -exec true ./... >/dev/null
	@if command -v wine >/dev/null; then \
	  GOOS=windows $(GO) test -count=1 -exec $(CURDIR)/tools/wine.sh -run 'TestOnWindows|TestAPageInUse|TestALimitInTheMoment' ./cmd/looprun ./scratchpad ./internal/proc && \
	  GOOS=windows $(GO) test -count=1 -short -exec $(CURDIR)/tools/wine.sh $(WINDOWS_TESTS); \
	else echo "Wine is not installed: the tests were compiled and not run" >&2; fi

examples: build ## run the examples that CI runs
	$(GO) test -count=1 -run 'TestExamples' -v ./cmd/looprun

clean:
	rm -rf bin dist

# --- The contents of the binary ---
.PHONY: verify vulncheck licences licences-check reproducible sbom

GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

verify: ## check the cached modules against go.sum
	$(GO) mod verify

# It is skipped only if the database cannot be reached. With a network, set
# VULNCHECK=required to make that a failure.
vulncheck: ## check for known vulnerabilities that the programs of a release can reach
	@for dir in . $(NOTIFY) fleet; do \
	  log=$$(mktemp); \
	  if (cd $$dir && $(GO) run $(GOVULNCHECK) ./...) >$$log 2>&1; then tail -n 3 $$log; rm -f $$log; continue; fi; \
	  if grep -q '^govulncheck: fetching vulnerabilities' $$log && [ "$(VULNCHECK)" != required ]; then \
	    echo "vulncheck skipped ($$dir): the vulnerability database cannot be reached; VULNCHECK=required makes this a failure" >&2; \
	  else cat $$log >&2; rm -f $$log; exit 1; fi; rm -f $$log; done

licences: build ## write docs/licences.md; fails if a licence is not allowed
	@$(GO) run ./tools/release licences $(BIN) > docs/licences.md.new || { rm -f docs/licences.md.new; exit 1; }
	@mv docs/licences.md.new docs/licences.md

licences-check: build ## check that all licences are allowed, and that docs/licences.md is up to date
	@$(GO) run ./tools/release licences $(BIN) | diff -u docs/licences.md - || { echo 'docs/licences.md is not up to date; make licences writes it' >&2; exit 1; }

# Each build has its own folder and its own empty build cache, so that the second build
# cannot reuse the first.
reproducible: ## check that two builds in two folders are the same, byte for byte
	@work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	for n in one two; do \
	  mkdir -p "$$work/$$n/source"; \
	  git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$$work/$$n/source"; \
	  (cd "$$work/$$n/source" && GOCACHE="$$work/$$n/cache" CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o "$$work/$$n/looprun" ./cmd/looprun) || exit 1; \
	done; \
	one=$$(sha256sum < "$$work/one/looprun"); two=$$(sha256sum < "$$work/two/looprun"); \
	if [ "$$one" != "$$two" ]; then echo "two builds of the same source differ: $$one $$two" >&2; exit 1; fi; \
	echo "reproducible: $${one%% *}"

sbom: build ## write the software bill of materials beside the binary
	@$(GO) run ./tools/release sbom -version '$(VERSION)' $(BIN) > $(BIN).cdx.json
	@echo "$(BIN).cdx.json"

# --- What programs rely on ---
.PHONY: api api-check

api: ## regenerate docs/api; every change in it must be intended
	$(GO) run ./tools/api -write

api-check: ## check the exported API against docs/api
	@$(GO) run ./tools/api

# --- Many machines: separate modules, so that looprun does not depend on them ---
.PHONY: fleet fleet-dev fleet-test fleet-check fleet-record

fleet: build ## build looprun-fleet, static, in bin/
	cd fleet && CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o ../$(dir $(BIN))looprun-fleet ./cmd/looprun-fleet

fleet-dev: fleet ## build looprun-fleet with a Temporal server, for looprun-fleet dev; takes some minutes
	cd fleet/devserver && CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o ../../$(dir $(BIN))looprun-fleet-dev .

fleet-check: ## vet and test the fleet without a server
	cd fleet && $(GO) mod tidy -diff && $(GO) vet ./... && $(GO) test -timeout 10m ./...

fleet-record: fleet-dev ## record histories of loops for this release; fleet-check replays those of each
	mkdir -p fleet/testdata/histories/$(VERSION)
	cd fleet && FLEET_RECORD=$(CURDIR)/fleet/testdata/histories/$(VERSION) FLEET_BIN=$(CURDIR)/$(dir $(BIN)) $(GO) test -tags server -count=1 -run TestHistoriesAreRecorded ./fleettest

FLEET_RUNS ?= 20
fleet-test: fleet-dev ## test the fleet with a real server: kill workers FLEET_RUNS times in each place, races, a thousand loops
	cd fleet && FLEET_RUNS=$(FLEET_RUNS) FLEET_BIN=$(CURDIR)/$(dir $(BIN)) $(GO) test -tags server -count=1 -timeout 120m -v ./fleettest

# --- The CI pages in real runners ---
.PHONY: ci-runners

RUNNERS := $(CURDIR)/bin/runners
ci-runners: ## run docs/ci in act (host mode) and in the bootstrap of Buildkite's agent; installs both in bin/
	GOBIN=$(RUNNERS) $(GO) install github.com/nektos/act@v0.2.89
	GOBIN=$(RUNNERS) $(GO) install github.com/buildkite/agent/v3@v3.45.0 && mv $(RUNNERS)/agent $(RUNNERS)/buildkite-agent
	PATH=$(RUNNERS):$$PATH $(GO) test -tags runners -count=1 -run TestRunner -v ./ci

# --- Pages and examples ---
.PHONY: docs-test schemas screenshot

screenshot: ## draw docs/screen.svg, the README's picture, from a run
	$(GO) test -count=1 -run TestScreenshot ./cmd/looprun -update

docs-test: ## copy README.md into a fresh clone, run the commands of docs, check links and flags, run the protocol examples
	$(GO) test -count=1 -run 'TestDocs|TestSchemaFiles|TestExamplesProtocols' ./cmd/looprun

schemas: ## regenerate docs/schemas
	$(GO) test -count=1 -run TestSchemaFiles ./cmd/looprun -update

# --- A release ---
.PHONY: dist dist-test

DIST ?= dist
NFPM := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.44.0

# Without VERSION=1.2.3, the commit's tag gives the version.
dist: ## build programs, archives, packages, check sums, formula and Dockerfile for all systems, in dist/
	@$(GO) run ./tools/release dist -nfpm $(NFPM) $(if $(filter file,$(origin VERSION)),,-version $(VERSION)) $(DIST)
	@ls -l $(DIST)

dist-test: ## make the packages of this system twice, install one and use it
	NFPM=$(NFPM) $(GO) test -count=1 -tags dist ./tools/release

# --- Size ---
.PHONY: size

MAX_SIZE ?= 14500000
size: ## print the size of the released program and its largest packages; fails above MAX_SIZE bytes
	@work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	build="env GOOS=linux GOARCH=amd64 CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false"; \
	$$build -ldflags '$(LDFLAGS)' -o "$$work/stripped" ./cmd/looprun && \
	$$build -ldflags '$(filter-out -s -w,$(LDFLAGS))' -o "$$work/full" ./cmd/looprun && \
	$(GO) tool nm -size "$$work/full" | awk '{ name = $$4; sub(/\[.*/, "", name); dir = ""; if (match(name, /.*\//)) { dir = substr(name, 1, RLENGTH); name = substr(name, RLENGTH + 1) } \
	  sub(/\..*/, "", name); sum[dir name] += $$2 } END { for (p in sum) printf "%9d  %s\n", sum[p], p }' | sort -rn | head -25; \
	size=$$(stat -c %s "$$work/stripped"); echo "$$size bytes"; \
	if [ "$$size" -gt $(MAX_SIZE) ]; then echo "the program is $$((size - $(MAX_SIZE))) bytes larger than allowed" >&2; exit 1; fi

# --- The program for agents that speak MCP, a separate module ---
.PHONY: mcp mcp-test mcp-inspector

MCP := cmd/looprun-mcp
# Builds a program of a separate module into bin/ and checks its licences.
own = cd $(1) && CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o $(abspath $(dir $(BIN)))/$(notdir $(1)) . && cd $(CURDIR) && \
  $(GO) build -o $(dir $(BIN))release ./tools/release && (cd $(1) && $(abspath $(dir $(BIN)))/release licences $(abspath $(dir $(BIN)))/$(notdir $(1)) >/dev/null) && rm -f $(dir $(BIN))release

mcp: build ## build looprun-mcp in bin/; fails if a licence in it is not allowed
	$(call own,$(MCP))

mcp-test: ## run its linters and its tests, with the SDK's client
	cd $(MCP) && $(GO) mod tidy -diff && $(GO) vet -tags inspector ./... && GOOS=windows $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...
	cd $(MCP) && $(GO) test -race -count=1 -timeout 10m ./...

mcp-inspector: ## run its tests with the inspector, which this installs (300 MB, from npm)
	npm install --prefix $(AGENTS)/inspector --no-audit --no-fund --loglevel=error node@22.23.3 @modelcontextprotocol/inspector@2.12.0
	bin=$(CURDIR)/$(AGENTS)/inspector/node_modules; cd $(MCP) && PATH=$$bin/node/bin:$$bin/.bin:$$PATH $(GO) test -tags inspector -count=1 -run TestInspector -v .

# --- The pages in a browser, with axe-core ---
.PHONY: axe

AXE = $(AGENTS)/axe/node_modules/axe-core/axe.min.js
axe: ## run the browser tests with axe-core, which this installs (from npm); a violation fails
	npm install --prefix $(AGENTS)/axe --no-audit --no-fund --ignore-scripts --loglevel=error axe-core@4.14.1
	LOOPRUN_AXE=$(CURDIR)/$(AXE) $(GO) test -count=1 -timeout 30m -run Browser ./cmd/looprun ./report

# --- The program that sends to chats, phones and mail, a separate module ---
.PHONY: notify notify-test

NOTIFY := cmd/looprun-notify
notify: build ## build looprun-notify in bin/; fails if a licence in it is not allowed
	$(call own,$(NOTIFY))

notify-test: ## run its linters and its tests, with servers on this machine
	cd $(NOTIFY) && $(GO) mod tidy -diff && $(GO) vet ./... && GOOS=windows $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) test -race -count=1 -timeout 10m ./...

# --- Real coding agents ---
.PHONY: agents agents-test stand-ins

AGENTS := tools/agents/.installed
agents: ## install the coding agents that agents-test runs, pinned, in an ignored folder (1.2 GB, from npm)
	@mkdir -p $(AGENTS) && cp tools/agents/package.json tools/agents/package-lock.json $(AGENTS)/
	cd $(AGENTS) && npm ci --no-audit --no-fund --loglevel=error
	@# What opencode would fetch itself before it loads a plugin.
	npm install --prefix $(AGENTS)/opencode --no-audit --no-fund --loglevel=error @opencode-ai/plugin@1.18.33
	@cd $(AGENTS)/node_modules/.bin && for a in claude codex copilot gemini opencode qwen; do printf '%s ' $$a; ./$$a --version | grep -om1 '[0-9]*\.[0-9.]*[0-9]'; done

stand-ins: ## record what the agents print in the tests' scripts, for the manual's stand-ins
	cd tools/agents && $(GO) run . -stand-ins

agents-test: ## run looprun with each agent and a scripted model, without a network if the system allows that; AGENTS_RUN='Mends' for some
	$(GO) test -tags agents -count=1 -timeout 90m -run '$(AGENTS_RUN)' -v ./tools/agents
