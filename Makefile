# The logic is in script/.

.PHONY: setup build test check lint fmt demo bench soak clean

build: ## bin/joy, with joy-guest inside
	script/build

setup: ## what building and testing need on this machine
	script/setup

test: ## everything, in real VMs
	script/test

check: ## format, vet, lint and the tests that take seconds
	script/check

lint:
	script/lint

fmt:
	script/lint fmt

demo: ## freeze, simulate and run an example on joy's own source
	script/demo

bench:
	script/bench

soak: ## many runs, then look for what they left behind
	script/soak

clean:
	rm -rf bin dist .cache internal/image/embed/joy-guest-*
