# One verb per need; `make` alone lists them.

GO        ?= go
ADDR      ?= 127.0.0.1:8080
DATA      ?= data
STORE     ?= embedded
COUNT     ?= 1
FUZZTIME  ?= 30s
SEEDS     ?= 20
GOTESTSUM  = $(GO) run gotest.tools/gotestsum@v1.13.0
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.6.1

.PHONY: help run dev test generate lint bench fuzz crash hostile engines playground release

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## serve the shop on http://127.0.0.1:8080 from ./data, with sample orders; STORE=dynamodb for DynamoDB Local
	$(RUN)

define COMPILE
@echo "compiling the server; the first time, this names every package and takes some minutes"
@$(GO) build -v -o bin/server ./cmd/server
endef
define RUN_embedded
$(COMPILE)
@exec bin/server serve --listen $(ADDR) --store embedded:$(DATA) --sample --auth=off
endef
define RUN_dynamodb
$(COMPILE)
@$(GO) build -o bin/dynamolocal ./internal/tests/dynamolocal/run
bin/dynamolocal -dir $(DATA)/dynamodb sh -c 'bin/server tables apply --store dynamodb:shop- && \
	exec bin/server serve --listen $(ADDR) --store dynamodb:shop- --events log:$(DATA) --sample --auth=off'
endef
RUN = $(or $(RUN_$(STORE)),$(error STORE is $(STORE), and must be embedded or dynamodb))

dev: ## serve the shop from ./data while you change files: each change generates, builds and restarts
	@$(GO) build -o bin/foldql ./cmd/foldql
	@exec bin/foldql dev --listen $(ADDR)

# Programs that tests build are compiled as a release is and as operators are told to, so that all of them share what is
# compiled of their dependencies. A compiler whose collector waits for a gigabyte takes a quarter less of a processor; by
# toolexec, as GOGC in the environment would reach the programs under test.
test: export CGO_ENABLED = 0
test: export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath -ldflags=-w '-toolexec=env GOGC=off GOMEMLIMIT=1GiB'
test: ## run every test, those of the module with the race detector, and list what every store was proved to keep
	@cases=$$(mktemp -d) && trap 'rm -r "$$cases"' EXIT && DRIVERTEST_CASES=$$cases \
	$(GOTESTSUM) --format pkgname --post-run-command .ci/proved --raw-command -- .ci/tests -race -timeout 60m -count=$(COUNT)

generate: ## generate the code again from the schemas
	$(GO) generate ./...
	@for example in examples/*/; do (cd $$example && $(GO) generate ./...) || exit 1; done

lint: ## check formatting, vet, staticcheck and the schemas
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; test -z "$$unformatted" || { echo "not gofmt-ed: $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) ./...
	$(GO) run ./cmd/foldql lint
	@for example in examples/*/; do \
	  (cd $$example && $(GO) vet ./... && $(STATICCHECK) ./... && $(GO) tool foldql lint) || exit 1; done

bench: ## measure reads and the fold beside hand-written and plain peers, in one run; STORE=dynamodb beside the bare SDK
	$(GO) run ./internal/bench -store $(STORE)
	$(GO) run ./internal/bench -source
	CASCADE_ROWS=1000000 $(GO) test ./projection -run '^$$' -bench Cascade -benchtime 1x

fuzz: ## run every fuzz target for FUZZTIME each
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    $(GO) test $$pkg -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) || exit 1; \
	  done; done

crash: ## kill the server at random moments, SEEDS times, and the generator before each change of a file; compare what they kept
	CRASH_SEEDS=$(SEEDS) $(GO) test ./internal/tests/crash -count=1 -timeout 0 -v
	CRASH_SEEDS=$(SEEDS) $(GO) test ./internal/gen -run Killed -count=1 -timeout 0 -v

hostile: ## attack a running server, and hold it to the 576 MB of memory of its defaults and to answer others within a second
	HOSTILE_LIVE=full $(GO) test ./internal/tests/hostile -run TestALiveServer -count=1 -timeout 20m -v

engines: ## fetch what speaks DynamoDB's protocol on this machine, and the Java that it needs
	$(GO) run ./internal/tests/dynamolocal/run -install

release: ## make the archives of VERSION in dist, with lists of their modules and checksums; at a clean checkout of its tag
	$(GO) run ./internal/release -version $(VERSION)

playground: ## write the files of GraphiQL again, as the lockfile pins them, with npm
	graph/playground/build.sh
