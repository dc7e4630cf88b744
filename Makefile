# One command for each chore. CI calls the same ones.
SHELL       := /bin/bash
GO          ?= go
BIN         ?= bin/looprun
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS     := -s -w -X main.stamp=$(VERSION)

.PHONY: all build demo test lint fmt bench stuckbench fuzz torture examples clean

all: build

build: ## the binary, static, in bin/
	@mkdir -p $(dir $(BIN))
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/looprun

demo: build ## the main job on real input: one loop that ends, one that is stuck
	@./examples/demo.sh $(CURDIR)/$(BIN)

test: ## all tests, with the race detector
	$(GO) test -race -shuffle=on -timeout 10m ./...

lint: ## gofumpt, vet (also for other systems), staticcheck
	@unformatted=$$($(GO) run $(GOFUMPT) -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	  if [ -n "$$unformatted" ]; then echo "not formatted (run make fmt):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) mod verify

fmt: ## format everything
	$(GO) run $(GOFUMPT) -w $$(git ls-files --cached --others --exclude-standard '*.go')

bench: build ## overhead per iteration, memory under 1 GiB of output, signatures: as ratios
	@$(GO) run ./bench $(CURDIR)/$(BIN)
	@echo; echo "signatures on log text: the scanner, a state machine with tables, a regular expression a mask, and all that a signature takes"
	@$(GO) test -run '^$$' -bench 'Scanner|Signer' ./signature | grep '^Benchmark'

stuckbench: build ## is it the same failure? over recorded outputs, beside the baselines
	$(GO) test -count=1 -run TestStuckbench -v ./signature ./cmd/looprun

FUZZTIME ?= 30s
fuzz: ## every parser's fuzz target, FUZZTIME each
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; done; done

torture: ## the long forms of the reliability tests
	LOOPRUN_TORTURE=1 $(GO) test -tags torture -count=1 -timeout 60m ./internal/proc ./scratchpad ./cmd/looprun

examples: build ## what CI runs of examples/
	$(GO) test -count=1 -run 'TestExamples' -v ./cmd/looprun

clean:
	rm -rf bin
