# `make demo` and `make test` do all the set-up: they install what is missing, build, and run. `make` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# The package manager locks its build folder, and two builds would only take turns.
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules --no-print-directory

SWIFT ?= swift
# Debian's own Python has the Debian packages below; another one in front of it in PATH has not.
PYTHON ?= /usr/bin/python3
PYTEST_FLAGS ?= -q
SWIFT_TEST_FLAGS ?= --quiet

# The Swift library goes into the program; no search path of its own, symbols bound at start. The toolchain's own linker,
# as Debian's warns of a call that nothing here makes.
RELEASE_FLAGS := -c release --product portcullis --static-swift-stdlib --disable-local-rpath \
  -Xlinker -z -Xlinker now -Xlinker -z -Xlinker pack-relative-relocs -Xswiftc -use-ld=lld
BINARY := .build/release/portcullis

DESTDIR ?=
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share/portcullis
MANDIR ?= $(PREFIX)/share/man
SYSCONFDIR ?= /etc/portcullis
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d

# What Swift's own programs load, what they link against, and what this program is made with.
BUILD_PACKAGES := ca-certificates git libcurl4 libncurses6 libsqlite3-0 libxml2 \
  binutils libc6-dev libstdc++-12-dev \
  libcbor-dev libssl-dev pkg-config zlib1g-dev
TEST_PACKAGES := curl gcc openssl python3 python3-cbor2 python3-cryptography python3-pytest python3-websockets
ifdef CI
# A peer for the proxies' tests, which are skipped without it. Installing it starts a service: not on people's machines.
TEST_PACKAGES += haproxy
endif

##@ First

.PHONY: demo
demo: release  ## Build, then play the whole story on loopback: register, connect, play, cheat
	$(BINARY) demo

.PHONY: test
test: unit-tests end-to-end  ## Build, then run every test

##@ Building

.PHONY: release
release: build-packages  ## The program as it is deployed: .build/release/portcullis
	$(SWIFT) build $(RELEASE_FLAGS)

.PHONY: build
build: build-packages  ## Everything in debug mode, tests included
	$(SWIFT) build --build-tests

.PHONY: clean
clean:  ## Remove all that was built
	rm -rf .build .build-asan .build-tsan
	find Tests -name __pycache__ -prune -exec rm -rf {} +

##@ Testing

.PHONY: unit-tests
unit-tests: build-packages test-packages  ## The Swift tests; SWIFT_TEST_FLAGS='--filter CBORTests' picks some
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --disable-xctest $(SWIFT_TEST_FLAGS)

.PHONY: end-to-end
end-to-end: release test-packages  ## The release binary against real clients; PYTEST_FLAGS='-k revoked' picks some
	PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) -m pytest $(PYTEST_FLAGS) Tests/EndToEnd


.PHONY: image-test
image-test: release  ## The Dockerfile's steps without docker, and the program in the result; root, slow, not in CI
	@scripts/install-packages debootstrap openssl python3
	$(PYTHON) scripts/image-test $(BINARY)

# A debug build in a folder of its own, the Swift tests in it, then the end-to-end tests against its program. A report ends
# the program with a status of its own, so that no test can pass over it (Tests/README.md, "Sanitizers").
SANITIZED_END_TO_END = PORTCULLIS_SLOWNESS=4 \
  $(PYTHON) -m pytest -o faulthandler_timeout=360 $(PYTEST_FLAGS) Tests/EndToEnd
# The toolchain has one beside swift.
CLANG ?= clang

.PHONY: test-asan
test-asan: export ASAN_OPTIONS := detect_leaks=1
test-asan: export LSAN_OPTIONS := print_suppressions=0:suppressions=$(CURDIR)/Tests/Sanitizers/leaks.txt
test-asan: build-packages test-packages  ## All tests with AddressSanitizer and LeakSanitizer
	$(SWIFT) build --build-tests --sanitize=address --scratch-path .build-asan
	$(SWIFT) test --skip-build --disable-xctest --sanitize=address --scratch-path .build-asan $(SWIFT_TEST_FLAGS)
	PORTCULLIS_SANITIZER=address PORTCULLIS_BIN=$(CURDIR)/.build-asan/debug/portcullis $(SANITIZED_END_TO_END)

.PHONY: test-tsan
test-tsan: export TSAN_OPTIONS := exitcode=66:atexit_sleep_ms=50
test-tsan: build-packages test-packages  ## All tests with ThreadSanitizer
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path .build-tsan
	$(CLANG) -shared -fPIC -O1 -Wall -Wextra -Werror -o .build-tsan/mutex.so Tests/Sanitizers/mutex.c -ldl
	LD_PRELOAD=$(CURDIR)/.build-tsan/mutex.so $(SWIFT) test --skip-build --disable-xctest --sanitize=thread \
	  --scratch-path .build-tsan $(SWIFT_TEST_FLAGS)
	PORTCULLIS_SANITIZER=thread PORTCULLIS_BIN=$(CURDIR)/.build-tsan/debug/portcullis \
	  PORTCULLIS_PRELOAD=$(CURDIR)/.build-tsan/mutex.so $(SANITIZED_END_TO_END)


##@ Style

FORMATTED := Package.swift Sources Tests

.PHONY: format
format:  ## Lay the sources out as .swift-format says
	$(SWIFT) format --in-place --parallel --recursive $(FORMATTED)

.PHONY: lint
lint:  ## Say where the layout differs from it, and change nothing
	$(SWIFT) format lint --strict --parallel --recursive $(FORMATTED)

.PHONY: documents
documents:  ## Write the example file and the README's table anew from the table of settings
	UPDATE_EXAMPLE=1 $(SWIFT) test --disable-xctest --filter DocumentTests

##@ Installing

.PHONY: install
install:  ## Copy what `make release` built under PREFIX (/usr/local), with DESTDIR in front
	@test -x $(BINARY) || { echo "run 'make release' first, as an ordinary user" >&2; exit 1; }
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(DATADIR)/certs' '$(DESTDIR)$(SYSCONFDIR)' \
	  '$(DESTDIR)$(UNITDIR)' '$(DESTDIR)$(SYSUSERSDIR)' '$(DESTDIR)$(MANDIR)/man1'
	install -m 755 -s $(BINARY) '$(DESTDIR)$(BINDIR)/portcullis'
	install -m 644 certs/Apple_App_Attestation_Root_CA.pem '$(DESTDIR)$(DATADIR)/certs/'
	install -m 644 config/portcullis.env.example '$(DESTDIR)$(SYSCONFDIR)/'
	install -m 644 config/portcullis.sysusers '$(DESTDIR)$(SYSUSERSDIR)/portcullis.conf'
	install -m 644 docs/portcullis.1 '$(DESTDIR)$(MANDIR)/man1/'
	sed -e 's|/usr/local/bin/|$(BINDIR)/|' -e 's|/etc/portcullis/|$(SYSCONFDIR)/|' config/portcullis.service \
	  >'$(DESTDIR)$(UNITDIR)/portcullis.service'
	chmod 644 '$(DESTDIR)$(UNITDIR)/portcullis.service'

.PHONY: uninstall
uninstall:  ## Remove what `make install` copied
	rm -f '$(DESTDIR)$(BINDIR)/portcullis' '$(DESTDIR)$(SYSCONFDIR)/portcullis.env.example'
	rm -f '$(DESTDIR)$(UNITDIR)/portcullis.service' '$(DESTDIR)$(SYSUSERSDIR)/portcullis.conf'
	rm -f '$(DESTDIR)$(MANDIR)/man1/portcullis.1'
	rm -rf '$(DESTDIR)$(DATADIR)'

.PHONY: build-packages
build-packages:
	@command -v $(SWIFT) >/dev/null || { \
	  echo "swift is not in PATH: install the Swift 6.3 toolchain for Debian 12 from https://swift.org/install" >&2; \
	  exit 1; }
	@scripts/install-packages $(BUILD_PACKAGES)

.PHONY: test-packages
test-packages:
	@scripts/install-packages $(TEST_PACKAGES)

.PHONY: help
help:
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "%s%s\n", (NR > 1 && seen++ ? "\n" : ""), substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
