# Thin on purpose: every target is a plain command you can also type yourself.

.DEFAULT_GOAL := help
.PHONY: help run test chaos mutants evidence lint gen build bench pictures up down

GOLANGCI_LINT := v2.15.0
MAILPIT := v1.33.1
AXE := 4.14.1
CHAOS_TIME ?= 10m
MUTANT_TIME ?= 15s

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "%-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

run: ## the whole shop in one process, on SQLite; needs nothing but Go
	go run ./cmd/shop

# SQLite's own code is C by translation. Its memory is none of Go's, so the race detector is asked
# about every access and knows nothing of any: twenty times as slow, for nothing. Ours, the driver
# included, is watched as ever.
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false

# The tests of the binary come last and one after the other, half a minute of chaos at
# their end: they measure what a person would see, and compilers running beside them
# would slow that down. The race detector has nothing to look at in them.
test: .tools/mailpit .tools/axe.min.js ## every test; installs Postgres, Redis, Chromium, a mail server and axe when missing
	.ci/install-services
	go run ./cmd/withservices -- sh -c 'go test $(RACE) -timeout 30m $(TESTFLAGS) $$(go list ./... | grep -vE "/e2e(/chaos)?$$") && go test -p 1 -timeout 40m $(TESTFLAGS) ./e2e ./e2e/chaos'

chaos: ## hurt the whole shop for ten minutes, every commit on the disk; CHAOS='-chaos.seed 7'
	.ci/install-services
	go test -count=1 -v -timeout 60m -run Nothing ./e2e/chaos -args -chaos.time 10m -chaos.fsync $(CHAOS)

mutants: ## put one bug after the other into the shop and want chaos to see each; MUTANT=stock for some
	.ci/install-services
	go run ./e2e/mutants -time $(MUTANT_TIME) -only '$(MUTANT)'

evidence: .tools/mailpit ## measure all that, and write e2e/evidence/evidence.html and .md; CHAOS_TIME=10m MUTANT_TIME=15s
	.ci/install-services
	rm -rf bin/evidence && mkdir -p bin/evidence
	-EENMAAL_FIGURES=$(CURDIR)/bin/evidence go run ./cmd/withservices -- go test -count=1 -timeout 40m -run 'KilledAtEveryPoint|ThreeReplicas' ./e2e
	-go test -count=1 -timeout 60m -run Nothing ./e2e/chaos -args -chaos.time $(CHAOS_TIME) -chaos.fsync -chaos.report $(CURDIR)/bin/evidence/chaos.json
	-go run ./e2e/mutants -time $(MUTANT_TIME) -report bin/evidence/mutants.json
	go run ./e2e/evidence -from bin/evidence -to e2e/evidence

lint: .tools/golangci-lint ## gofmt, go vet and golangci-lint
	@unformatted=$$(git ls-files '*.go' ':!*_templ.go' | xargs gofmt -l); \
	test -z "$$unformatted" || { echo "not formatted by gofmt: $$unformatted"; exit 1; }
	go vet ./...
	.tools/golangci-lint run

gen: ## make the Go code of the .templ pages anew
	go tool templ generate

build: ## the binary, as the image has it: bin/shop
	CGO_ENABLED=0 go build -tags nomsgpack -trimpath -ldflags '-s -w' -o bin/shop ./cmd/shop

bench: ## measure; takes minutes and wants a quiet machine
	go run ./cmd/bench

pictures: ## take the pictures of the README anew
	EENMAAL_PICTURES=1 go test -count=1 -run Pictures ./e2e

up: ## two replicas, Postgres, Redis, provider, mailbox and metrics in Docker
	docker compose up --build --wait

down: ## remove all that, data included
	docker compose down --volumes

# Not in go.mod: the hundreds of modules of a linter and a mail server are not the
# shop's. One more try, because the download is the one thing here that fails by
# chance.
.tools/golangci-lint:
	GOBIN=$(CURDIR)/.tools go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT) || \
	GOBIN=$(CURDIR)/.tools go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)

.tools/mailpit:
	GOBIN=$(CURDIR)/.tools go install github.com/axllent/mailpit@$(MAILPIT) || \
	GOBIN=$(CURDIR)/.tools go install github.com/axllent/mailpit@$(MAILPIT)

# One file of the package: the checks of accessibility that the browser tests put into every page.
.tools/axe.min.js:
	command -v npm >/dev/null || .ci/install-services
	mkdir -p .tools/axe
	cd .tools/axe && { npm pack --silent axe-core@$(AXE) || npm pack --silent axe-core@$(AXE); }
	tar -xzf .tools/axe/axe-core-$(AXE).tgz -C .tools/axe package/axe.min.js
	mv .tools/axe/package/axe.min.js $@
	rm -r .tools/axe
