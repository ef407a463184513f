# `make demo` and `make test` do all the set-up: they install what is missing, build, and run. `make` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# Targets that build take turns in one folder, whose lock the package manager has.
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules --no-print-directory

SWIFT ?= swift
# Debian's own Python has the Debian packages below; another one in front of it in PATH has not.
PYTHON ?= /usr/bin/python3
PYTEST_FLAGS ?= -q
# How many end-to-end tests run at once, a file by one worker; 0 for one after the other, as `--pdb` needs it.
PYTEST_WORKERS ?= 4
SHARED := -n $(PYTEST_WORKERS) --dist loadfile
# Tests that are long by intention (Tests/README.md, "Long by intention") run in CI, and with LONG=1.
LONG ?= $(CI)
CHOSEN := $(if $(LONG),,-m 'not long')
SWIFT_TEST_FLAGS ?= --quiet

# The Swift library and the C++ library that it needs go into the program, as 1.4 MB of its memory were the other one's;
# nobody loads symbols from it; no search path of its own, symbols bound at start. Functions with the same instructions are
# one, which is a megabyte less. The toolchain's own linker, as Debian's
# warns of a call that nothing here makes. In its folder is the static C++ library alone, and so the linker takes that.
STATIC_LIBRARIES := $(CURDIR)/.build/static-libraries
# What a start runs lies together, in this order: spread over the whole program it takes 2 MB more of memory. A name that is
# gone is passed over; `make start-order` writes the list anew, when row l of the bench says that it has aged.
START_ORDER := $(CURDIR)/scripts/start-order.txt
RELEASE_FLAGS := -c release --static-swift-stdlib --disable-local-rpath \
  -Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections \
  -Xlinker --icf=all -Xlinker -z -Xlinker now -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic \
  -Xlinker --symbol-ordering-file=$(START_ORDER) -Xlinker --no-warn-symbol-ordering \
  -Xlinker -L$(STATIC_LIBRARIES) -Xswiftc -use-ld=lld
# The gate, and what it is tried out with: portcullis goes on as portcullis-dev, which lies beside it.
RELEASE := $(SWIFT) build $(RELEASE_FLAGS) --product portcullis && \
  $(SWIFT) build $(RELEASE_FLAGS) --product portcullis-dev
BINARY := .build/release/portcullis
# What the Swift tests run is built in a folder of its own, since the package manager locks the one it builds in: so CI
# has both builds at once, neither of which keeps two processors busy all the time.
TESTS := --scratch-path .build-tests
DEBUG_BINARY := $(CURDIR)/.build-tests/debug/portcullis

DESTDIR ?=
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share/portcullis
# The pages that messages, alerts and manual pages name as docs/….
DOCDIR ?= $(PREFIX)/share/doc/portcullis/docs
MANDIR ?= $(PREFIX)/share/man
# Where Debian's shells look below /usr/local and /usr; only zsh has another folder for packages.
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
SYSCONFDIR ?= /etc/portcullis
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d

# What Swift's own programs load, what they link against, and what this program is made with.
BUILD_PACKAGES := ca-certificates git libcurl4 libncurses6 libsqlite3-0 libxml2 \
  binutils libc6-dev libstdc++-12-dev \
  libcbor-dev libmaxminddb-dev libqrencode-dev libseccomp-dev libsqlite3-dev libssl-dev pkg-config zlib1g-dev
TEST_PACKAGES := curl gcc iproute2 openssl python3 python3-cbor2 python3-cryptography python3-pytest python3-pytest-xdist \
  python3-jwcrypto python3-jwt python3-selenium python3-websockets sslscan zbar-tools chromium chromium-driver
# Who judges the package and the manual pages, and shells that complete.
TEST_PACKAGES += dpkg-dev fish lintian mandoc zsh
# Peers for the tests of the proxies, of the metrics and of statements; their services are not left running.
TEST_PEERS := haproxy postgresql prometheus

##@ First

# CONSOLE=1 leaves the operator's console open in the end, to be looked at.
CONSOLE ?=

.PHONY: demo
demo: release  ## Build, then play the whole story on loopback; with CONSOLE=1 look around in the console afterwards
	$(BINARY) demo $(if $(CONSOLE),--console)

# One build serves all of it, the debug build: the release build would cost as much again. CI builds both, runs every test end
# to end on the programs as they are deployed, and adds the parsers' seeds with some new bytes, whether the bench still
# measures what it says, and whatever else is built.
.PHONY: test
test:  ## Within twelve minutes: one build, all Swift tests, the quick ones end to end; LONG=1: all, on the release program
ifeq ($(LONG),)
test: lint debug-tried
else
test: lint built-and-tried end-to-end conformance-quick
endif
ifdef CI
test: fuzz-quick bench-smoke whole-package plain-release
endif

.PHONY: quick
quick: build-packages test-packages  ## After each change: one debug build, the Swift tests, a part of those end to end
	$(SWIFT) build --build-tests $(TESTS)
	$(SWIFT) test --skip-build --disable-xctest $(TESTS) $(SWIFT_TEST_FLAGS)
	PORTCULLIS_BIN=$(DEBUG_BINARY) $(PYTHON) -m pytest $(SHARED) -m quick $(PYTEST_FLAGS) \
	  Tests/EndToEnd

##@ Building

.PHONY: release
release: build-packages static-libraries  ## The programs as they are deployed: .build/release/portcullis, portcullis-dev
	$(RELEASE)

.PHONY: start-order
start-order: release  ## What a start and a first player run, written anew for the linker (scripts/start-order.txt)
	scripts/start-order $(BINARY) $(START_ORDER)
	@rm $(BINARY)  # The next build links it anew.

.PHONY: static-libraries
static-libraries:
	@mkdir -p $(STATIC_LIBRARIES)
	@ln -sf "$$($(CLANG) -print-file-name=libstdc++.a)" $(STATIC_LIBRARIES)/libstdc++.a

.PHONY: build
build: build-packages  ## Everything in debug mode, tests included
	$(SWIFT) build --build-tests $(TESTS)

# By another name than its own, so that `make --dry-run` does not run it.
ITSELF := $(MAKE)

# What the tests want from elsewhere comes while the build runs.
.PHONY: fetched
fetched: test-packages maxmind-data peers axe pyobjc autobahn

# The tests end to end wait more than they work, and so the Swift tests run beside them.
.PHONY: debug-tried
debug-tried: build-packages
	@$(ITSELF) fetched & fetched=$$!; \
	failed=; $(SWIFT) build --build-tests $(TESTS) || failed=yes; \
	wait $$fetched || failed=yes; test -z "$$failed"
	@{ $(SWIFT) test --skip-build --disable-xctest $(TESTS) $(SWIFT_TEST_FLAGS); } & tests=$$!; \
	failed=; PORTCULLIS_BIN=$(DEBUG_BINARY) $(PYTHON) -m pytest $(SHARED) -m quick $(PYTEST_FLAGS) Tests/EndToEnd || failed=yes; \
	wait $$tests || failed=yes; test -z "$$failed"
	PORTCULLIS_BIN=$(DEBUG_BINARY) $(PYTHON) Tests/Conformance/websocket_suite.py --quick $(CONFORMANCE)

# The Swift tests begin when their build is done, beside the rest of the release build; what the other tests want from
# elsewhere comes meanwhile.
.PHONY: built-and-tried
built-and-tried: build-packages static-libraries test-packages maxmind-data
	@{ $(SWIFT) build --build-tests $(TESTS) && \
	  $(SWIFT) test --skip-build --disable-xctest $(TESTS) $(SWIFT_TEST_FLAGS); } & tests=$$!; \
	$(ITSELF) fetched & fetched=$$!; \
	failed=; { $(RELEASE); } || failed=yes; \
	wait $$tests || failed=yes; wait $$fetched || failed=yes; test -z "$$failed"

# `swift build -c release` without a product, with our flags so that nothing is compiled twice.
.PHONY: whole-package
whole-package: release  ## Everything in release mode, and a package that depends on this one
	$(SWIFT) build $(RELEASE_FLAGS)
	SWIFT=$(SWIFT) scripts/dependent-test

# What whoever has cloned it types first: nothing of it may rest on a flag of ours.
.PHONY: plain-release
plain-release: build-packages  ## `swift build -c release` of the whole package as it is, in a folder of its own
	$(SWIFT) build -c release --scratch-path .build-plain

.PHONY: clean
clean:  ## Remove all that was built
	rm -rf .build .build-tests .build-plain .build-asan .build-tsan .build-conformance .build-fuzz .build-adversary
	find Tests -name __pycache__ -prune -exec rm -rf {} +

##@ Testing

.PHONY: unit-tests
unit-tests: build-packages test-packages maxmind-data  ## The Swift tests; SWIFT_TEST_FLAGS='--filter CBORTests' picks some
	$(SWIFT) build --build-tests $(TESTS)
	$(SWIFT) test --skip-build --disable-xctest $(TESTS) $(SWIFT_TEST_FLAGS)

.PHONY: end-to-end
end-to-end: release test-packages peers axe pyobjc $(if $(LONG),apple-modules)  ## The release binary against real clients; PYTEST_FLAGS='-k revoked' picks some
	PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) -m pytest $(SHARED) $(CHOSEN) $(PYTEST_FLAGS) Tests/EndToEnd

.PHONY: apple-modules
apple-modules: build-packages  ## Swift's own modules for iOS 15 and macOS 12, for the client's tests: once, a minute
	@scripts/apple-check modules

.PHONY: pyobjc
pyobjc:  ## What PyObjC knows of Apple's frameworks, to compare the fakes with: once; without PyPI its test is skipped
	@scripts/install-packages python3 python3-venv
	@PYTHON=$(PYTHON) Tests/Conformance/install-pyobjc $(CONFORMANCE)/pyobjc

.PHONY: maxmind-data
maxmind-data:  ## MaxMind's published test databases, once; without PyPI their tests say so
	@scripts/install-packages python3 python3-venv
	@PYTHON=$(PYTHON) Tests/Conformance/install-maxmind-data $(CONFORMANCE)/maxmind

.PHONY: peers
peers:  ## Evennia, telnetlib3 and libtelnet for the tests: once, half a minute, 210 MB; what cannot be had is skipped
	@scripts/install-packages python3 python3-venv
	@scripts/install-packages libtelnet-utils || echo "no libtelnet, its tests will be skipped" >&2
	@Tests/Conformance/install-peers $(CONFORMANCE)/peers
	@cd Tests/EndToEnd/support && PYTHONPATH=program:suite $(PYTHON) games/neighbour.py

# What a reader sees of the console: each page on each screen, photographed while it is judged.
.PHONY: console-shots
console-shots: release test-packages axe  ## Pictures of the console for docs/console.md, by the tests' own browser
	@scripts/install-packages python3-pil
	@rm -rf .build/console-shots
	SHOTS=$(CURDIR)/.build/console-shots PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) -m pytest $(PYTEST_FLAGS) \
	  -o faulthandler_timeout=0 Tests/EndToEnd/console/test_looks.py
	$(PYTHON) scripts/console-shots .build/console-shots docs/console

.PHONY: console-axe
console-axe: release test-packages axe  ## Every page of the console on every screen, judged by axe-core
	ALL_SCREENS=1 PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) -m pytest $(PYTEST_FLAGS) -o faulthandler_timeout=0 \
	  Tests/EndToEnd/console/test_looks.py

.PHONY: axe
axe:  ## axe-core, the judge of the console's pages, once; without PyPI its tests are skipped
	@scripts/install-packages python3 python3-venv
	@PYTHON=$(PYTHON) Tests/Conformance/install-axe $(CONFORMANCE)/axe

# The field's own tools against the release binary (Tests/README.md, "Conformance").
CONFORMANCE := .build-conformance
AUTOBAHN = PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) Tests/Conformance/websocket_suite.py

.PHONY: conformance
conformance: release autobahn openapi  ## Autobahn over wss (11 minutes), and docs/openapi.yaml against a running gate
	$(AUTOBAHN) $(CONFORMANCE)

.PHONY: conformance-quick
conformance-quick: release autobahn
	$(AUTOBAHN) --quick $(CONFORMANCE)

.PHONY: tls-audit
tls-audit: release test-packages  ## testssl.sh and sslscan: nothing above LOW (2 minutes)
	@scripts/install-packages testssl.sh
	PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) Tests/Conformance/tls_audit.py $(CONFORMANCE)/tls

.PHONY: tls-costs
tls-costs: release  ## What full and resumed TLS handshakes cost the gate
	PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) Tests/Conformance/resumption.py

.PHONY: openapi
openapi: release test-packages  ## Schemathesis drives the gate by docs/openapi.yaml, which also judges the tests' answers
	@scripts/install-packages python3 python3-venv
	@PYTHON=$(PYTHON) Tests/Conformance/install-openapi $(CONFORMANCE)
	PYTHON=$(PYTHON) PORTCULLIS_BIN=$(abspath $(BINARY)) $(CONFORMANCE)/openapi/bin/python Tests/Conformance/openapi.py \
	  --replay $(CONFORMANCE)

.PHONY: autobahn
autobahn:
	@scripts/install-packages python3 python3-venv
	@PYTHON=$(PYTHON) Tests/Conformance/install-autobahn $(CONFORMANCE)

.PHONY: faults
faults: release test-packages  ## Bad days at length: 10,000 power losses, 300 kills, 300 power cuts (3 minutes)
	$(SWIFT) build --build-tests $(TESTS)
	PORTCULLIS_SCHEDULES=10000 $(SWIFT) test --skip-build --disable-xctest $(TESTS) --quiet --filter randomSchedules
	PORTCULLIS_KILLS=300 PORTCULLIS_POWER_CUTS=300 PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) -m pytest \
	  $(PYTEST_FLAGS) --durations=0 -o faulthandler_timeout=0 \
	  $(addprefix Tests/EndToEnd/,$(addsuffix .py,$(FAULT_TESTS)))

FAULT_TESTS := store/test_kill store/test_durability store/test_disk limits/test_time game/test_names \
  game/test_game_faults limits/test_backpressure limits/test_resources operate/test_rivals operate/test_reload_load

# How many, and the seed of a run that is to be repeated (CUTS_SEED); `make test LONG=1` has 150 of them.
CUTS ?= 10000

.PHONY: cuts
cuts: release test-packages  ## CUTS=10000 seeded cuts of players' lines: nothing lost, doubled or out of order (5 minutes)
	CUTS=$(CUTS) PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) -m pytest $(PYTEST_FLAGS) -s -o faulthandler_timeout=0 \
	  Tests/EndToEnd/session/test_cuts.py

# How many, and the seed of a run that is to be repeated (KEEPING_SEED); `make test LONG=1` has 8 of each, and 20 players.
KILLS ?= 300
RESTARTS ?= 300
PLAYERS ?= 200

.PHONY: keeping
keeping: release test-packages  ## KILLS=300 RESTARTS=300 PLAYERS=200: players type and read, and no character leaves the game
	KILLS=$(KILLS) RESTARTS=$(RESTARTS) PLAYERS=$(PLAYERS) PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) -m pytest \
	  $(PYTEST_FLAGS) -s -o faulthandler_timeout=0 Tests/EndToEnd/keeping/test_at_length.py

DETACHED ?= 10000

.PHONY: detached
detached: release test-packages  ## What DETACHED=10000 sessions without a connection cost while games pour into them
	DETACHED=$(DETACHED) PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) -m pytest $(PYTEST_FLAGS) -s \
	  -o faulthandler_timeout=0 Tests/EndToEnd/session/test_detached_memory.py

.PHONY: image-test
image-test: release  ## The Dockerfile's steps without docker, and the program in the result; root, slow, not in CI
	@scripts/install-packages debootstrap openssl python3
	$(PYTHON) scripts/image-test $(BINARY)

# A debug build in a folder of its own, the Swift tests in it, then the end-to-end tests against its program. A report ends
# the program with a status of its own, so that no test can pass over it (Tests/README.md, "Sanitizers").
SANITIZED_END_TO_END = PORTCULLIS_SLOWNESS=4 \
  $(PYTHON) -m pytest -o faulthandler_timeout=360 $(SHARED) $(PYTEST_FLAGS) Tests/EndToEnd
# The toolchain has one beside swift.
CLANG ?= clang
# What it suppresses, LeakSanitizer finds by name, also in commands that have no PATH.
SYMBOLIZER ?= $(shell command -v llvm-symbolizer)

.PHONY: test-asan
test-asan: export ASAN_OPTIONS := detect_leaks=1:external_symbolizer_path=$(SYMBOLIZER)
test-asan: export LSAN_OPTIONS := print_suppressions=0:suppressions=$(CURDIR)/Tests/Adversarial/Sanitizers/leaks.txt
test-asan: build-packages test-packages  ## All tests with AddressSanitizer and LeakSanitizer
	$(SWIFT) build --build-tests --sanitize=address --scratch-path .build-asan
	$(SWIFT) test --skip-build --disable-xctest --sanitize=address --scratch-path .build-asan $(SWIFT_TEST_FLAGS)
	PORTCULLIS_SANITIZER=address PORTCULLIS_BIN=$(CURDIR)/.build-asan/debug/portcullis $(SANITIZED_END_TO_END)

.PHONY: test-tsan
test-tsan: export TSAN_OPTIONS := exitcode=66:atexit_sleep_ms=50
test-tsan: build-packages test-packages  ## All tests with ThreadSanitizer
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path .build-tsan
	$(CLANG) -shared -fPIC -O1 -Wall -Wextra -Werror -o .build-tsan/mutex.so Tests/Adversarial/Sanitizers/mutex.c -ldl
	LD_PRELOAD=$(CURDIR)/.build-tsan/mutex.so $(SWIFT) test --skip-build --disable-xctest --sanitize=thread \
	  --scratch-path .build-tsan $(SWIFT_TEST_FLAGS)
	PORTCULLIS_SANITIZER=thread PORTCULLIS_BIN=$(CURDIR)/.build-tsan/debug/portcullis \
	  PORTCULLIS_PRELOAD=$(CURDIR)/.build-tsan/mutex.so $(SANITIZED_END_TO_END)


# Slow, and not in CI: their last figures are in Tests/README.md. What they measure is one machine, so let it be idle.
SECONDS ?=
ATTACKS ?=
MINUTES ?= 20

.PHONY: floods
floods: release test-packages  ## Honest players under attack: a table; ATTACKS='pings bombs' picks some, SECONDS=8 each
	@scripts/install-packages gcc slowhttptest
	PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) Tests/Adversarial/Floods/floods.py --seconds $(or $(SECONDS),8) $(ATTACKS)

# The most expensive messages: a search of SECONDS=60, then what sessions that send them take of a loop.
ADVERSARY_FLAGS := -c release --product portcullis-adversary --scratch-path .build-adversary

.PHONY: adversarial
adversarial: release test-packages  ## Look for the most expensive message, and have many sessions send it
	$(SWIFT) build $(ADVERSARY_FLAGS)
	.build-adversary/release/portcullis-adversary --seconds $(or $(SECONDS),60)
	PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) Tests/Adversarial/Search/flood.py

.PHONY: soak
soak: release test-packages  ## Sessions come and go for MINUTES=20: memory, descriptors, journal and queues stay flat
	PORTCULLIS_BIN=$(abspath $(BINARY)) $(PYTHON) Tests/Adversarial/Soak/soak.py --minutes $(MINUTES)

# Harnesses with libFuzzer and AddressSanitizer, as many at once as there are processors (Tests/README.md, "Fuzzing").
HARNESS ?=

.PHONY: fuzz
fuzz: build-packages test-packages  ## Fuzz every parser, each for SECONDS=60; HARNESS='cbor json' picks some
	SWIFT=$(SWIFT) $(PYTHON) scripts/fuzz --seconds $(or $(SECONDS),60) $(HARNESS)

.PHONY: fuzz-quick
fuzz-quick:  ## The same for 10 s each, as CI does
	@$(MAKE) fuzz SECONDS=10

##@ Measuring

BENCH_PACKAGES := binutils gcc libssl-dev openssl python3 haproxy nginx nodejs node-ws websockify
BENCH_PROGRAMS := $(addprefix .build/bench/,load game floor-relay floor-idle floor-admission floor-registration \
  floor-chain)
BENCH_CC = gcc -O2 -Wall -Wextra -Werror -o $@ $(filter %.c,$^) -lssl -lcrypto
# ROWS='a b' picks rows of the table; BENCH_FLAGS='--rounds 1' is quicker.
ROWS ?=
BENCH_FLAGS ?=

.PHONY: bench
bench: release bench-programs  ## Portcullis beside HAProxy, nginx, Node.js, websockify: 25 minutes; ROWS='a b' picks
	$(PYTHON) -B Benchmarks/bench --rows '$(ROWS)' $(BENCH_FLAGS)

.PHONY: bench-table
bench-table:  ## Judge what the last bench has measured, and write its table and chart anew
	$(PYTHON) -B Benchmarks/bench --table

.PHONY: bench-smoke
bench-smoke: release bench-programs  ## A little of every row: fails when a measure is broken, never for being slow
	$(PYTHON) -B Benchmarks/bench --smoke --rows '$(ROWS)' $(BENCH_FLAGS)

.PHONY: bench-programs
bench-programs: build-packages static-libraries bench-packages $(BENCH_PROGRAMS)
	$(SWIFT) build $(RELEASE_FLAGS) --product portcullis-bench

.PHONY: bench-packages
bench-packages:
	@scripts/install-quietly $(BENCH_PACKAGES)

.build/bench/load: $(wildcard Benchmarks/load/*) $(wildcard Benchmarks/common/*) | .build/bench
	$(BENCH_CC)
.build/bench/game: $(wildcard Benchmarks/game/*) $(wildcard Benchmarks/common/*) | .build/bench
	$(BENCH_CC)
.build/bench/floor-%: Benchmarks/floor/%.c $(wildcard Benchmarks/common/*) | .build/bench
	$(BENCH_CC)
.build/bench:
	mkdir -p $@

##@ Style

FORMATTED := Package.swift Sources Tests Examples

.PHONY: format
format:  ## Lay the sources out as .swift-format says
	$(SWIFT) format --in-place --parallel --recursive $(FORMATTED)

.PHONY: lint
lint:  ## Say where the layout differs from it, and change nothing
	$(SWIFT) format lint --strict --parallel --recursive $(FORMATTED)

.PHONY: documents
documents:  ## Write anew what documents take from the code, the manifest and the decisions
	scripts/decision-index
	scripts/module-picture
	UPDATE_EXAMPLE=1 $(SWIFT) test --disable-xctest $(TESTS) --filter DocumentTests

.PHONY: module-docs
module-docs: build-packages  ## The documentation of all modules, a folder each: .build/module-docs
	$(SWIFT) build --build-tests $(TESTS)
	scripts/doc-check render .build/module-docs

.PHONY: client-docs
client-docs: build-packages  ## The documentation of PortcullisClient: .build/client-docs; its warnings are errors
	scripts/apple-check documents .build/client-docs
	@echo "python3 -m http.server -d .build/client-docs, then /documentation/portcullisclient"

##@ Installing

.PHONY: install
install: install-gate install-dev  ## Copy what `make release` built under PREFIX (/usr/local), with DESTDIR in front

.PHONY: install-gate
install-gate:  ## The same without portcullis-dev, which has the commands for development
	@test -x $(BINARY) -a -x $(BINARY)-dev || { echo "run 'make release' first, as an ordinary user" >&2; exit 1; }
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(DATADIR)/certs' '$(DESTDIR)$(SYSCONFDIR)' \
	  '$(DESTDIR)$(UNITDIR)' '$(DESTDIR)$(SYSUSERSDIR)' '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(DOCDIR)' \
	  '$(DESTDIR)$(BASHDIR)' '$(DESTDIR)$(ZSHDIR)' '$(DESTDIR)$(FISHDIR)'
	install -m 755 -s $(BINARY) '$(DESTDIR)$(BINDIR)/portcullis'
	umask 022; $(PYTHON) scripts/sbom '$(DESTDIR)$(BINDIR)/portcullis' >'$(DESTDIR)$(DATADIR)/sbom.cdx.json'
	install -m 644 certs/Apple_App_Attestation_Root_CA.pem '$(DESTDIR)$(DATADIR)/certs/'
	install -m 644 config/prometheus-alerts.yml config/grafana-dashboard.json '$(DESTDIR)$(DATADIR)/'
	install -m 644 docs/*.md '$(DESTDIR)$(DOCDIR)/'
	install -m 644 config/portcullis.env.example config/all-settings.env '$(DESTDIR)$(SYSCONFDIR)/'
	install -m 644 config/portcullis.sysusers '$(DESTDIR)$(SYSUSERSDIR)/portcullis.conf'
	install -m 644 docs/portcullis.1 '$(DESTDIR)$(MANDIR)/man1/'
	umask 022; $(PYTHON) scripts/man-pages --of gate $(BINARY) '$(DESTDIR)$(MANDIR)/man1'
	umask 022; for shell in 'bash $(BASHDIR)/portcullis' 'zsh $(ZSHDIR)/_portcullis' 'fish $(FISHDIR)/portcullis.fish'; do \
	  $(BINARY) --generate-completion-script "$${shell%% *}" >'$(DESTDIR)'"$${shell#* }"; done
	sed -e 's|/usr/local/bin/|$(BINDIR)/|' -e 's|/etc/portcullis/|$(SYSCONFDIR)/|' config/portcullis.service \
	  >'$(DESTDIR)$(UNITDIR)/portcullis.service'
	chmod 644 '$(DESTDIR)$(UNITDIR)/portcullis.service'
	sed -e 's|/usr/local/bin/|$(BINDIR)/|' config/portcullis-android-revocation.service \
	  >'$(DESTDIR)$(UNITDIR)/portcullis-android-revocation.service'
	chmod 644 '$(DESTDIR)$(UNITDIR)/portcullis-android-revocation.service'
	install -m 644 config/portcullis-android-revocation.timer '$(DESTDIR)$(UNITDIR)/'

.PHONY: install-dev
install-dev:
	@test -x $(BINARY)-dev || { echo "run 'make release' first, as an ordinary user" >&2; exit 1; }
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(DATADIR)-dev' '$(DESTDIR)$(MANDIR)/man1'
	install -m 755 -s $(BINARY)-dev '$(DESTDIR)$(BINDIR)/portcullis-dev'
	umask 022; $(PYTHON) scripts/sbom '$(DESTDIR)$(BINDIR)/portcullis-dev' >'$(DESTDIR)$(DATADIR)-dev/sbom.cdx.json'
	umask 022; $(PYTHON) scripts/man-pages --of dev $(BINARY) '$(DESTDIR)$(MANDIR)/man1'
	umask 022; echo '.so man1/portcullis.1' >'$(DESTDIR)$(MANDIR)/man1/portcullis-dev.1'

.PHONY: uninstall
uninstall:  ## Remove what `make install` copied
	rm -f '$(DESTDIR)$(BINDIR)/portcullis' '$(DESTDIR)$(BINDIR)/portcullis-dev' $(addprefix '$(DESTDIR)$(SYSCONFDIR)'/,portcullis.env.example all-settings.env)
	rm -f '$(DESTDIR)$(UNITDIR)/portcullis.service' '$(DESTDIR)$(SYSUSERSDIR)/portcullis.conf'
	rm -f $(addprefix '$(DESTDIR)$(UNITDIR)'/portcullis-android-revocation,.service .timer)
	rm -f '$(DESTDIR)$(MANDIR)/man1/portcullis.1' '$(DESTDIR)$(MANDIR)'/man1/portcullis-*.1
	rm -f '$(DESTDIR)$(BASHDIR)/portcullis' '$(DESTDIR)$(ZSHDIR)/_portcullis' '$(DESTDIR)$(FISHDIR)/portcullis.fish'
	rm -rf '$(DESTDIR)$(DATADIR)' '$(DESTDIR)$(DATADIR)-dev' '$(DESTDIR)$(DOCDIR)'

.PHONY: deb
deb: release  ## Debian packages: .build/portcullis_*.deb, and .build/portcullis-dev_*.deb for development
	@scripts/install-packages dpkg-dev python3
	@rm -f .build/portcullis_*.deb .build/portcullis-dev_*.deb  # of other versions, which `apt install` would name as well
	scripts/deb $(BINARY) .build

.PHONY: build-packages
build-packages:
	@command -v $(SWIFT) >/dev/null || { \
	  echo "swift is not in PATH: install the Swift 6.3 toolchain for Debian 12 from https://swift.org/install" >&2; \
	  exit 1; }
	@scripts/install-packages $(BUILD_PACKAGES)

.PHONY: test-packages
test-packages:
	@scripts/install-packages $(TEST_PACKAGES)
	@scripts/install-quietly $(TEST_PEERS)

.PHONY: help
help:
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "%s%s\n", (NR > 1 && seen++ ? "\n" : ""), substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
