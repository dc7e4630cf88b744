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

.PHONY: all build install demo test test-short test-race lint fmt bench bench-replay profile stuckbench ablate fuzz torture windows-test examples clean

all: build

# What is compiled once serves every program, test and example, in any clone.
export GOFLAGS := -trimpath $(filter-out -trimpath,$(shell $(GO) env GOFLAGS))

build: ## the programs, static, in bin/
	@echo "Building $(BIN) and $(dir $(BIN))looprun-serve; the first time takes a minute."
	@mkdir -p $(dir $(BIN))
	@CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/looprun
	@CGO_ENABLED=0 $(GO) build -ldflags '-s -w' -o $(dir $(BIN))looprun-serve ./cmd/looprun-serve

install: build ## the programs in PREFIX/bin; PREFIX is ~/.local
	@mkdir -p "$(DESTDIR)$(PREFIX)/bin"
	@install -m 755 $(BIN) $(dir $(BIN))looprun-serve "$(DESTDIR)$(PREFIX)/bin"
	@echo "Installed looprun and looprun-serve in $(DESTDIR)$(PREFIX)/bin."
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo 'Your PATH does not have that folder; this line adds it:'; echo '  export PATH="$(PREFIX)/bin:$$PATH"' ;; esac

demo: build ## the main job on real input: one loop that ends, one that is stuck
	@echo "Running two loops in copies of examples/: one ends, one is stuck."
	@CGO_ENABLED=0 ./examples/demo.sh $(abspath $(BIN))

# Most of the tests wait for processes, so more of them than processors run at once. The
# time limit ends a test that hangs; it is far above what a busy machine needs.
TEST := $(GO) test -shuffle=on -p 4 -parallel 8 -timeout 60m
test: ## all tests; torture, fuzz and agents-test run the long forms
	@echo "Running all tests; the first time takes some minutes longer."
	@CGO_ENABLED=0 $(TEST) ./...

test-short: ## a minute: no browser, one page of the docs, the beginning of each script, a tenth of the repetitions
	@CGO_ENABLED=0 $(TEST) -short ./...

RACE ?= ./...
test-race: ## the short form with the race detector; RACE="./internal/…" for some packages
	$(TEST) -race -short $(RACE)

lint: ## gofumpt, vet (also for other systems), staticcheck
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

bench: build ## an iteration, output, lines, many at once, signatures: as ratios; SECTIONS="iteration …" for some of it
	@$(GO) run ./bench $(SECTIONS) $(CURDIR)/$(BIN)
	@echo; echo "signatures on log text: the scanner, a state machine with tables, a regular expression a mask, and all that a signature takes"
	@$(GO) test -run '^$$' -bench 'Scanner|Signer' ./signature | grep '^Benchmark'

bench-replay: build ## time and memory an iteration of runs of 10^3 to 10^6 iterations, recorded and replayed; minutes
	@$(GO) run ./bench replay $(CURDIR)/$(BIN)

profile: ## CPU and allocation profiles of an iteration and of output, in bin/profile/
	@mkdir -p bin/profile
	@for what in Iteration:3000x Output:20x; do name=$${what%%:*}; \
	  $(GO) test -run '^$$' -bench "Benchmark$$name\$$" -benchtime $${what##*:} -o bin/profile/looprun.test \
	    -cpuprofile bin/profile/$$name.cpu -memprofile bin/profile/$$name.mem -memprofilerate 4096 ./cmd/looprun | grep '^Benchmark'; \
	  for kind in cpu mem; do echo; echo "$$name: $$kind"; $(GO) tool pprof -top -nodecount 15 $$($(GO) env GOFLAGS) -sample_index=$$([ $$kind = mem ] && echo alloc_space || echo cpu) bin/profile/looprun.test bin/profile/$$name.$$kind 2>/dev/null | tail -n +4; done; done

stuckbench: ## is it the same failure? over five sets of recorded outputs, beside the baselines
	$(GO) test -count=1 -run 'TestStuckbench|TestCounts|TestBaselines' -v ./signature

ablate: ## what each function that reads output is good for: switched off, over the five sets; ten minutes
	@$(GO) run ./tools/ablate -max 5

FUZZTIME ?= 30s
fuzz: ## every parser's fuzz target, FUZZTIME each
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; done; done

torture: ## the long forms of the reliability tests; TORTURE_RUNS=N kills N runs instead of 1,000
	$(GO) test -tags torture -count=1 -p 1 -timeout 60m . ./core ./engine ./internal/proc ./scratchpad ./cmd/looprun

# Those of the packages below need no folder, which Wine before 10 cannot remove.
WINDOWS_TESTS := ./signature ./guards/... ./internal/cost ./internal/waiting ./internal/ask ./protocol/ladder ./protocol/rejection \
  ./protocol/signal ./internal/strictyaml ./internal/cells ./internal/termsafe
windows-test: ## compile all tests for Windows; where Wine is, run the program and what needs no POSIX system
	GOOS=windows $(GO) test -count=1 -exec true ./... >/dev/null
	@if command -v wine >/dev/null; then \
	  GOOS=windows $(GO) test -count=1 -exec $(CURDIR)/tools/wine.sh -run 'TestOnWindows|TestAPageInUse|TestALimitInTheMoment' ./cmd/looprun ./scratchpad ./internal/proc && \
	  GOOS=windows $(GO) test -count=1 -short -exec $(CURDIR)/tools/wine.sh $(WINDOWS_TESTS); \
	else echo "Wine is not installed: the tests were compiled and not run" >&2; fi

examples: build ## what CI runs of examples/
	$(GO) test -count=1 -run 'TestExamples' -v ./cmd/looprun

clean:
	rm -rf bin dist

# --- What is in the binary, and whether it is what it says ---
.PHONY: verify vulncheck licences licences-check reproducible sbom

GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

verify: ## the modules in the cache are the ones of go.sum
	$(GO) mod verify

# Only an unreachable database is a reason to skip; VULNCHECK=required makes it
# a failure, as it should be where there is a network.
vulncheck: ## known vulnerabilities that looprun and looprun-notify can reach
	@for dir in . $(NOTIFY); do \
	  log=$$(mktemp); \
	  if (cd $$dir && $(GO) run $(GOVULNCHECK) ./...) >$$log 2>&1; then tail -n 3 $$log; rm -f $$log; continue; fi; \
	  if grep -q '^govulncheck: fetching vulnerabilities' $$log && [ "$(VULNCHECK)" != required ]; then \
	    echo "vulncheck skipped ($$dir): the vulnerability database cannot be reached from here; VULNCHECK=required makes this a failure" >&2; \
	  else cat $$log >&2; rm -f $$log; exit 1; fi; rm -f $$log; done

licences: build ## write docs/licences.md; fails when a licence is not allowed
	@$(GO) run ./tools/release licences $(BIN) > docs/licences.md.new || { rm -f docs/licences.md.new; exit 1; }
	@mv docs/licences.md.new docs/licences.md

licences-check: build ## the licences in it are allowed, and docs/licences.md is up to date
	@$(GO) run ./tools/release licences $(BIN) | diff -u docs/licences.md - || { echo 'docs/licences.md is not up to date; make licences writes it' >&2; exit 1; }

# Each build has its own folder and its own empty build cache, so that the second
# cannot be the first one's result.
reproducible: ## two builds in two folders are the same, byte for byte
	@work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	for n in one two; do \
	  mkdir -p "$$work/$$n/source"; \
	  git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$$work/$$n/source"; \
	  (cd "$$work/$$n/source" && GOCACHE="$$work/$$n/cache" CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o "$$work/$$n/looprun" ./cmd/looprun) || exit 1; \
	done; \
	one=$$(sha256sum < "$$work/one/looprun"); two=$$(sha256sum < "$$work/two/looprun"); \
	if [ "$$one" != "$$two" ]; then echo "two builds of the same source differ: $$one $$two" >&2; exit 1; fi; \
	echo "reproducible: $${one%% *}"

sbom: build ## the software bill of materials of the binary, beside it
	@$(GO) run ./tools/release sbom -version '$(VERSION)' $(BIN) > $(BIN).cdx.json
	@echo "$(BIN).cdx.json"

# --- What programs rely on ---
.PHONY: api api-check

api: ## write docs/api anew: every change in it is meant
	$(GO) run ./tools/api -write

api-check: ## the exported API is that of docs/api
	@$(GO) run ./tools/api

# --- Many machines: modules of their own, so that looprun depends on nothing of it ---
.PHONY: fleet fleet-dev fleet-test fleet-check

fleet: build ## looprun-fleet, static, in bin/
	cd fleet && CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o ../$(dir $(BIN))looprun-fleet ./cmd/looprun-fleet

fleet-dev: fleet ## with a Temporal server in it, for looprun-fleet dev; the server is large: some minutes
	cd fleet/devserver && CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o ../../$(dir $(BIN))looprun-fleet-dev .

fleet-check: ## vet and test the fleet without a server
	cd fleet && $(GO) vet ./... && $(GO) test -timeout 10m ./...

FLEET_RUNS ?= 20
fleet-test: fleet-dev ## the fleet with a real server: workers killed FLEET_RUNS times in each place, races, a thousand loops
	cd fleet && FLEET_RUNS=$(FLEET_RUNS) FLEET_BIN=$(CURDIR)/$(dir $(BIN)) $(GO) test -tags server -count=1 -timeout 120m -v ./fleettest

# --- The pages for CI systems, in their runners ---
.PHONY: ci-runners

RUNNERS := $(CURDIR)/bin/runners
ci-runners: ## run docs/ci in act (host mode) and in the bootstrap of Buildkite's agent, which are installed in bin/
	GOBIN=$(RUNNERS) $(GO) install github.com/nektos/act@v0.2.89
	GOBIN=$(RUNNERS) $(GO) install github.com/buildkite/agent/v3@v3.45.0 && mv $(RUNNERS)/agent $(RUNNERS)/buildkite-agent
	PATH=$(RUNNERS):$$PATH $(GO) test -tags runners -count=1 -run TestRunner -v ./ci

# --- Pages and examples say what is true ---
.PHONY: docs-test schemas screenshot

screenshot: ## draw docs/screen.svg, the picture of the README, from a run
	$(GO) test -count=1 -run TestScreenshot ./cmd/looprun -update

docs-test: ## copy README.md into a fresh clone, run the commands of docs, check links and flags, run the protocol examples
	$(GO) test -count=1 -run 'TestDocs|TestSchemaFiles|TestExamplesProtocols' ./cmd/looprun

schemas: ## write docs/schemas anew
	$(GO) test -count=1 -run TestSchemaFiles ./cmd/looprun -update

# --- A release ---
.PHONY: dist dist-test

DIST ?= dist
NFPM := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.44.0

# Without VERSION=1.2.3 the version is that of the commit's tag.
dist: ## programs, archives, packages, check sums, formula and Dockerfile for all systems, in dist/
	@$(GO) run ./tools/release dist -nfpm $(NFPM) $(if $(filter file,$(origin VERSION)),,-version $(VERSION)) $(DIST)
	@ls -l $(DIST)

dist-test: ## make the packages of this system twice, install one and use it
	NFPM=$(NFPM) $(GO) test -count=1 -tags dist ./tools/release

# --- How large it is ---
.PHONY: size

MAX_SIZE ?= 14500000
size: ## how large the released program is, and its largest packages; fails above MAX_SIZE bytes
	@work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	build="env GOOS=linux GOARCH=amd64 CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false"; \
	$$build -ldflags '$(LDFLAGS)' -o "$$work/stripped" ./cmd/looprun && \
	$$build -ldflags '$(filter-out -s -w,$(LDFLAGS))' -o "$$work/full" ./cmd/looprun && \
	$(GO) tool nm -size "$$work/full" | awk '{ name = $$4; sub(/\[.*/, "", name); dir = ""; if (match(name, /.*\//)) { dir = substr(name, 1, RLENGTH); name = substr(name, RLENGTH + 1) } \
	  sub(/\..*/, "", name); sum[dir name] += $$2 } END { for (p in sum) printf "%9d  %s\n", sum[p], p }' | sort -rn | head -25; \
	size=$$(stat -c %s "$$work/stripped"); echo "$$size bytes"; \
	if [ "$$size" -gt $(MAX_SIZE) ]; then echo "the program has $$((size - $(MAX_SIZE))) bytes more than it may have" >&2; exit 1; fi

# --- The program for agents that speak MCP, a module of its own ---
.PHONY: mcp mcp-test mcp-inspector

MCP := cmd/looprun-mcp
# A program of a module of its own, in bin/, whose licences are looked at too.
own = cd $(1) && CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o $(abspath $(dir $(BIN)))/$(notdir $(1)) . && cd $(CURDIR) && \
  $(GO) build -o $(dir $(BIN))release ./tools/release && (cd $(1) && $(abspath $(dir $(BIN)))/release licences $(abspath $(dir $(BIN)))/$(notdir $(1)) >/dev/null) && rm -f $(dir $(BIN))release

mcp: build ## looprun-mcp, in bin/; fails when a licence in it is not allowed
	$(call own,$(MCP))

mcp-test: ## its linters and its tests, with the SDK's client
	cd $(MCP) && $(GO) mod tidy -diff && $(GO) vet -tags inspector ./... && GOOS=windows $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...
	cd $(MCP) && $(GO) test -race -count=1 -timeout 10m ./...

mcp-inspector: ## its tests with the inspector, which is installed (300 MB, from npm)
	npm install --prefix $(AGENTS)/inspector --no-audit --no-fund --loglevel=error node@22.23.3 @modelcontextprotocol/inspector@2.12.0
	bin=$(CURDIR)/$(AGENTS)/inspector/node_modules; cd $(MCP) && PATH=$$bin/node/bin:$$bin/.bin:$$PATH $(GO) test -tags inspector -count=1 -run TestInspector -v .

# --- The program that sends to chats, phones and mail, a module of its own ---
.PHONY: notify notify-test

NOTIFY := cmd/looprun-notify
notify: build ## looprun-notify, in bin/; fails when a licence in it is not allowed
	$(call own,$(NOTIFY))

notify-test: ## its linters and its tests, with servers on this machine
	cd $(NOTIFY) && $(GO) mod tidy -diff && $(GO) vet ./... && GOOS=windows $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) test -race -count=1 -timeout 10m ./...

# --- Real coding agents ---
.PHONY: agents agents-test stand-ins

AGENTS := tools/agents/.installed
agents: ## install the coding agents that agents-test runs, pinned, in an ignored folder (1.2 GB, from npm)
	@mkdir -p $(AGENTS) && cp tools/agents/package.json tools/agents/package-lock.json $(AGENTS)/
	cd $(AGENTS) && npm install --no-audit --no-fund --loglevel=error
	@# What opencode would fetch itself before it loads a plugin.
	npm install --prefix $(AGENTS)/opencode --no-audit --no-fund --loglevel=error @opencode-ai/plugin@1.18.33
	@cd $(AGENTS)/node_modules/.bin && for a in claude codex gemini opencode; do printf '%s ' $$a; ./$$a --version | tail -1; done

stand-ins: ## what the agents print in the scripts of the tests, for the stand-ins of the manual
	cd tools/agents && $(GO) run . -stand-ins

agents-test: ## looprun around each of them and a scripted model, without a network where the system allows it; AGENTS_RUN='Mends' for some
	$(GO) test -tags agents -count=1 -timeout 90m -run '$(AGENTS_RUN)' -v ./tools/agents
