# Builds, checks, installs and packages libsdd. `make help` lists the targets.
#
#   PREFIX, LIBDIR, BINDIR, INCLUDEDIR, DATADIR, MANDIR, DESTDIR   the folders that `make install` writes to
#   PC_PREFIX                             the prefix in sdd.pc; default: relative to the folder of sdd.pc
#   BUILD                                 the folder of the library, the programs and the coders
#   SCRATCH, SWIFTFLAGS                   SwiftPM's build folder, and additional flags for `swift build`
#   DOCS_PYTHON                           the Python that has Sphinx, for `make docs`; default: /usr/bin/python3
#   TURN, SHARES                          which of the long checks a run makes, see below
#   STRIP=:                               installs the library with its debug information
#   BENCH_WORK, BENCH_OPTIONS             the folder of `make bench`, and options of bench/run.py

SHELL := /bin/bash
.SHELLFLAGS := -euc
.DELETE_ON_ERROR:
.NOTPARALLEL: # each step uses all processors

VERSION := $(shell sed -n 's/^\#define SDD_VERSION_STRING "\(.*\)"/\1/p' include/sdd/base.h)
SONAME := libsdd.so.0
LIBRARY = $(BUILD)/libsdd.so.$(VERSION)

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
BINDIR ?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DESTDIR ?=
BUILD ?= build
SCRATCH ?= .build
SWIFTFLAGS ?=
STRIP ?= strip
DOCS_PYTHON ?= /usr/bin/python3
FUZZ_SECONDS ?= 60
FUZZ_JOBS ?= 1
SOAK_LOADS ?= 200000
SEEDS ?= 2000
TORTURE_SCALE ?= 1
BENCH_WORK ?= build/bench
BENCH_OPTIONS ?=
FUZZ_TARGETS ?=

relative = $(shell realpath -ms --relative-to=$(1) $(2))
PC_PREFIX ?= $${pcfiledir}/$(call relative,$(LIBDIR)/pkgconfig,$(PREFIX))

with_server = FAULT_SERVER=$(SCRATCH)/debug/fault-server
sources := Package.swift $(shell find Sources include -type f -not -name '*.hpp')
headers := $(wildcard include/sdd/*.h)

# The C code in the format of .clang-format. It leaves out include/, whose columns are laid out by hand, and Tests,
# where clang-format would break up the tables of test cases: their anonymous structs, and the rows that share a line.
CLANG_FORMAT ?= clang-format
formatted_c = $(shell find Sources coders examples bench tools -name '*.[ch]')

.PHONY: all tool coders install-coders $(CODERS:%=coder-%) test-coders fuzz-coders help install uninstall clean check lint test-swift \
	test-headers test-c test-cxx test-rust test-python test-bench test-http2 test-http3 test-browser test-caches test-tool test-abi \
	test-binders abi-description bindings test-examples debug debug-tsan sanitize sanitize-all \
	sanitize-swift sanitize-shims sanitize-c-asan sanitize-c-valgrind sanitize-c-tsan sanitize-cxx-asan \
	sanitize-cxx-tsan sanitize-tool simulate test-simulation torture repeat coverage fuzz damage soak fault-server \
	circles docs test-docs man format wheel bench bench-quick bench-distributed bench-formats bench-guard bench-guard-renew bench-programs \
	deb check-deb check-installed check-reproducible check-roots check-recipes release check-release \
	cross-arm64 deb-arm64 wheel-arm64 check-arm64

all: $(BUILD)/libsdd.so $(BUILD)/sdd ## (default) builds build/libsdd.so, with the Swift runtime inside, and the programs

help: ## prints this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 20

# ---- build

# Fails in one sentence, before anything is built, if Swift is missing or too old.
check_swift := @bash -euc '. tools/packages.sh; check_toolchain' make

# SwiftPM does not put the version into the library's name, and creates no symbolic links beside it.
# --disable-local-rpath: a system library must not search its own folder for other libraries. SwiftPM locks its folder;
# with one of its own the library is built beside the tests. It takes a compiler in CC for its own clang.
$(LIBRARY): $(sources)
	$(check_swift)
	env -u CC swift build -c release --product sdd --scratch-path $(SCRATCH)/library --disable-local-rpath $(SWIFTFLAGS)
	mkdir -p $(BUILD)
	install -m 755 $(SCRATCH)/library/release/libsdd.so $@.new
	mv -f $@.new $@

$(BUILD)/$(SONAME): $(LIBRARY)
	ln -sf libsdd.so.$(VERSION) $@

$(BUILD)/libsdd.so: $(BUILD)/$(SONAME) | $(BUILD)/sdd-decoder
	ln -sf $(SONAME) $@

# ---- the program sdd, in C over the public interface; it is linked twice, for build/ and for the system's folders

tool_objects := $(patsubst tools/sdd/%.c,$(BUILD)/tool/%.o,$(wildcard tools/sdd/*.c))

tool: $(BUILD)/sdd ## builds build/sdd, the command line tool

$(BUILD)/tool/%.o: tools/sdd/%.c $(wildcard tools/sdd/*.h) $(headers)
	@mkdir -p $(BUILD)/tool
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(CPPFLAGS) $(CFLAGS) -Wall -Wextra -Wpedantic -Werror -Iinclude -c -o $@ $<

$(BUILD)/sdd: $(tool_objects) $(BUILD)/libsdd.so
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(tool_objects) -L$(BUILD) -lsdd -lm -Wl,-rpath,'$$ORIGIN'

# The process that decodes for SDD_DECODE_ISOLATED. It loads the library that starts it.
$(BUILD)/sdd-decoder: tools/decoder/sdd-decoder.c
	@mkdir -p $(BUILD)
	$(CC) -std=c11 -O2 -g $(CPPFLAGS) $(CFLAGS) -Wall -Wextra -Wpedantic -Werror $(LDFLAGS) -o $@ $< -ldl

clean: ## removes build/ and SwiftPM's folders
	rm -rf build $(SCRATCH) .build-tsan .build-fuzz .build-coverage

# ---- coders of further formats, each with its own library

CODERS := webp avif gif jxl heif bmp ico svg icc
coder_packages_webp := libwebp libwebpdemux libwebpmux
coder_packages_avif := libavif
coder_packages_jxl := libjxl
coder_packages_heif := libheif
coder_packages_ico := libpng
coder_packages_icc := lcms2
coder_packages_svg := librsvg-2.0 fontconfig
coder_flags = $(if $(coder_packages_$(1)),$$(pkg-config --cflags --libs $(coder_packages_$(1))))
coder_check = $(if $(coder_packages_$(1)),pkg-config --exists $(coder_packages_$(1)),true)
CODER_FLAGS ?= -O2 -g
CODER_DIR ?= $(BUILD)/coders

coders: $(CODERS:%=coder-%) ## builds the coders whose libraries are there: build/coders/

# A coder needs nothing of libsdd but its header, so that it serves each way of loading the library.
coder-%: coders/%.c $(wildcard coders/*.h) $(headers)
	@mkdir -p $(CODER_DIR)
	@if $(call coder_check,$*); then \
	    [ -z "$$(find coders/$*.c coders/*.h include/sdd/extend.h -newer $(CODER_DIR)/$*.so 2>&1)" ] && exit 0; \
	    set -x; $(CC) -std=c99 $(CODER_FLAGS) -Wall -Wextra -fvisibility=hidden -shared -fPIC -Iinclude coders/$*.c \
	        $(call coder_flags,$*) -Wl,-z,defs,-z,relro,-z,now,--as-needed -lm -o $(CODER_DIR)/$*.so.new; \
	    mv -f $(CODER_DIR)/$*.so.new $(CODER_DIR)/$*.so; \
	else \
	    rm -f $(CODER_DIR)/$*.so; \
	    echo "coders/$*.c is left out: $(coder_packages_$*) is not installed"; \
	fi

install-coders: coders ## installs the coders that were built to $(DESTDIR)$(LIBDIR)/sdd/coders
	install -d $(DESTDIR)$(LIBDIR)/sdd/coders
	for coder in $(CODERS); do \
	    [ -f $(CODER_DIR)/$$coder.so ] || continue; \
	    install -m 644 $(CODER_DIR)/$$coder.so $(DESTDIR)$(LIBDIR)/sdd/coders/; \
	    $(STRIP) --strip-unneeded $(DESTDIR)$(LIBDIR)/sdd/coders/$$coder.so; \
	done

# ---- install

# The dynamic linker finds libraries in /usr and, after ldconfig, in /usr/local by itself.
tool_rpath = $(if $(filter /usr/%,$(LIBDIR)),,-Wl,-rpath,'$$ORIGIN/$(call relative,$(BINDIR),$(LIBDIR))')

install: all build/man/.made ## installs to $(DESTDIR)$(PREFIX), /usr/local by default
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/sdd $(DESTDIR)$(INCLUDEDIR)/sdd/cpp
	install -m 644 $(LIBRARY) $(DESTDIR)$(LIBDIR)/
	$(STRIP) --strip-unneeded $(DESTDIR)$(LIBDIR)/libsdd.so.$(VERSION)
	ln -sf libsdd.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libsdd.so
	install -m 644 include/sdd/*.h include/sdd/*.hpp toolkits/sdd/*.h toolkits/sdd/*.hpp $(DESTDIR)$(INCLUDEDIR)/sdd/
	install -m 644 include/sdd/cpp/*.hpp $(DESTDIR)$(INCLUDEDIR)/sdd/cpp/
	sed -e 's|@PREFIX@|$(PC_PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
	    -e 's|@LIBDIR@|$${prefix}/$(call relative,$(PREFIX),$(LIBDIR))|' \
	    -e 's|@INCLUDEDIR@|$${prefix}/$(call relative,$(PREFIX),$(INCLUDEDIR))|' \
	    -e 's|@DATADIR@|$${prefix}/$(call relative,$(PREFIX),$(DATADIR))|' \
	    pkgconfig/sdd.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/sdd.pc
	for file in sdd-gtk4 sdd-qt6; do \
	    sed 's|@VERSION@|$(VERSION)|' pkgconfig/$$file.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/$$file.pc; \
	done
	for file in sdd-config sdd-config-version; do \
	    sed -e 's|@VERSION@|$(VERSION)|' -e 's|@MAJOR@|$(firstword $(subst ., ,$(VERSION)))|' -e 's|@SONAME@|$(SONAME)|' \
	        -e 's|@INCLUDEDIR@|$(call relative,$(LIBDIR)/cmake/sdd,$(INCLUDEDIR))|' \
	        cmake/$$file.cmake.in > $(DESTDIR)$(LIBDIR)/cmake/sdd/$$file.cmake; \
	done
	install -d $(DESTDIR)$(MANDIR)/man3 $(DESTDIR)$(MANDIR)/man7
	install -m 644 build/man/man3/*.3 $(DESTDIR)$(MANDIR)/man3/
	install -m 644 build/man/man7/*.7 $(DESTDIR)$(MANDIR)/man7/
	install -d $(DESTDIR)$(DATADIR)/libsdd
	install -m 644 tools/libsdd.supp $(DESTDIR)$(DATADIR)/libsdd/
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	$(CC) $(CFLAGS) $(LDFLAGS) -o $(DESTDIR)$(BINDIR)/sdd $(tool_objects) -L$(BUILD) -lsdd -lm $(tool_rpath)
	$(STRIP) $(DESTDIR)$(BINDIR)/sdd
	install -d $(DESTDIR)$(LIBDIR)/sdd
	install -m 755 $(BUILD)/sdd-decoder $(DESTDIR)$(LIBDIR)/sdd/
	$(STRIP) $(DESTDIR)$(LIBDIR)/sdd/sdd-decoder
	install -m 644 docs/man/sdd*.1 $(DESTDIR)$(MANDIR)/man1/
	install -d $(addprefix $(DESTDIR)$(DATADIR)/,bash-completion/completions zsh/site-functions fish/vendor_completions.d)
	install -m 644 tools/sdd/completions/sdd.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/sdd
	install -m 644 tools/sdd/completions/_sdd $(DESTDIR)$(DATADIR)/zsh/site-functions/
	install -m 644 tools/sdd/completions/sdd.fish $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/
	if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

build/man/.made: $(headers) tools/make_man.py docs/site/header.py
	rm -rf build/man
	tools/make_man.py build/man
	touch $@

man: build/man/.made ## writes the manual pages of the library, from the header, to build/man

uninstall: ## removes the files of `make install`
	rm -f $(DESTDIR)$(DATADIR)/libsdd/libsdd.supp
	if [ -d $(DESTDIR)$(DATADIR)/libsdd ]; then rmdir --ignore-fail-on-non-empty $(DESTDIR)$(DATADIR)/libsdd; fi
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libsdd.so $(SONAME) libsdd.so.$(VERSION))
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/pkgconfig/,sdd.pc sdd-gtk4.pc sdd-qt6.pc)
	rm -f $(DESTDIR)$(BINDIR)/sdd $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(wildcard docs/man/sdd*.1)))
	rm -f $(addprefix $(DESTDIR)$(DATADIR)/,bash-completion/completions/sdd zsh/site-functions/_sdd fish/vendor_completions.d/sdd.fish)
	rm -f $(DESTDIR)$(LIBDIR)/sdd/sdd-decoder $(addprefix $(DESTDIR)$(LIBDIR)/sdd/coders/,$(CODERS:%=%.so))
	for folder in sdd/coders sdd; do \
	    if [ -d $(DESTDIR)$(LIBDIR)/$$folder ]; then rmdir --ignore-fail-on-non-empty $(DESTDIR)$(LIBDIR)/$$folder; fi; \
	done
	rm -rf $(DESTDIR)$(LIBDIR)/cmake/sdd $(DESTDIR)$(INCLUDEDIR)/sdd
	rm -f $(DESTDIR)$(MANDIR)/man3/sdd_*.3 $(DESTDIR)$(MANDIR)/man7/libsdd.7
	if [ -d $(DESTDIR)$(INCLUDEDIR)/sdd ]; then rmdir --ignore-fail-on-non-empty $(DESTDIR)$(INCLUDEDIR)/sdd; fi
	if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

# ---- arm64, built on another machine: docs/packaging.md

cross-arm64: ## builds the library, the programs and the coders for arm64 in build/arm64/, on amd64 with Debian sid
	tools/cross-arm64.sh $(MAKE) all coders

deb-arm64: cross-arm64 ## builds Debian packages of these, in build/arm64/deb/
	tools/cross-arm64.sh env SDD_BUILT=$(CURDIR)/build/arm64 SDD_FOR=arm64 debian/scripts/build build/arm64/deb

wheel-arm64: cross-arm64 ## builds a wheel of these, in build/arm64/wheels/
	tools/cross-arm64.sh env SDD_LIBRARY=build/arm64/libsdd.so \
	    bindings/python/make_wheel.sh --system-libraries build/arm64/wheels

check-arm64: cross-arm64 fault-server ## runs the programs in C, the coders and the Swift tests of arm64 under qemu
	$(with_server) Tests/arm64.sh

# ---- Python

wheel: all coders ## builds a wheel for Python, with the library, coders and what they need inside: build/wheels/
	rm -rf build/wheels
	bindings/python/make_wheel.sh build/wheels

# ---- checks

# What takes long is divided into three shares, of which a run makes one: programs in C once more with isolated decoding,
# and `make sanitize`: each program in C under one of three tools, some in C++, the Swift tests of some targets. Which ones
# changes with the commit, so that the next runs see the others. Programs in C++ are made by one compiler at one commit,
# and by the other at another. SHARES= runs everything. Of the programs under a tool a third runs with isolated decoding
# too; that third changes by itself, so that each program meets each tool in both ways.
TURN ?= $(shell printf %d 0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0))
SHARES ?= 3
share = $(if $(SHARES),$$(($(TURN) + $(1)))/$(SHARES))
half = $(if $(SHARES),$(TURN)/2)
isolated_share = $(if $(SHARES),$$(($(TURN) / $(SHARES)))/$(SHARES))
swift_share = $(if $(SHARES),$(word $(shell echo $$(($(TURN) % 3 + 1))),SDDEngineTests \
	SDDTransportTests$(comma)SDDBaseTests SDDCodersTests$(comma)SDDCachesTests))
comma := ,

# The suites of `make check`, those that take long first; and before them what several of them need.
suites := test-c test-swift test-python test-docs test-tool test-examples test-caches test-cxx test-rust test-coders \
	test-http2 test-http3 test-headers test-binders test-abi test-simulation test-bench

check: ## runs all of the following, three at a time; build/suites/ has what they said:
	Tests/suites.sh all debug docs man coders -- bench-programs fault-server -- lint $(suites)

repeat: all debug coders bench-programs fault-server ## runs SUITES (all) TIMES (30) times beside three busy processes
	Tests/repeat.sh $(or $(SUITES),$(suites))

lint: ##   checks formats, comments, sentences, sizes, circles of files and folders, figures, bindings, recipes
	Tests/house/requirements.py
	Tests/house/limits.py
	Tests/house/circles.py
	Tests/house/atomics.py
	Tests/house/comments.py
	Tests/house/figures.py
	Tests/house/sentences.py
	tools/bindings.sh --check
	packaging/set-release.sh --check
	@echo "$(CLANG_FORMAT) --dry-run -Werror (C)"
	@$(CLANG_FORMAT) --dry-run -Werror $(formatted_c)
	swift format lint --strict --recursive Package.swift Sources Tests

debug: # builds the tests of the Swift targets, with the fault server
	$(check_swift)
	swift build --build-tests --scratch-path $(SCRATCH)

test-swift: debug ##   runs the tests of the Swift targets
	Tests/swift-tests.sh --skip-build --scratch-path $(SCRATCH)
	SCRATCH=$(SCRATCH) Tests/Hops/hops.py --check

test-headers: all ##   compiles the header with gcc and clang, C99 to C23, C++11 to C++23; checks layouts, names in docs
	Tests/abi/check-docs.sh
	Tests/abi/check-headers.sh
	Tests/abi/check-compilers.sh

test-c: all fault-server bench-programs ##   runs programs in C against the library, also those in the header's comments
	$(with_server) Tests/abi/check-programs.sh
	$(with_server) SDD_TEST_JOBS=2 SDD_TEST_ISOLATED_SHARE=$(call share,0) Tests/C/run.sh plain
	mkdir -p $(BUILD)/tests
	$(CC) -std=c11 -g -O2 -fno-builtin -Wall -Wextra -Werror Tests/C/heap_shims.c -pthread -o $(BUILD)/tests/heap_shims \
	    -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=posix_memalign,--wrap=strdup,--wrap=free
	$(BUILD)/tests/heap_shims

test-cxx: all fault-server ##   runs programs in C++ over sdd.hpp, and those of CMake, Meson, Qt and GTK
	Tests/Cxx/coverage.py
	$(with_server) SDD_TEST_SHARE=$(half) Tests/Cxx/run.sh plain
	$(with_server) Tests/Cxx/packages.sh
	$(with_server) Tests/Cxx/toolkits.sh

test-rust: all ##   checks the Rust crates with the toolchain of the PATH, or that which CARGO, RUSTC and RUSTDOC name
	bindings/rust/run_tests.sh

test-python: all ##   checks the Python package, from the sources and as a wheel
	SDD_TEST_SHARE=$(call share,0) bindings/python/run_tests.sh

test-simulation: all ##   plays 2,000 seeds of the simulation of threads, hosts and disks
	Tests/Simulation/run.sh

test-bench: bench-programs ##   checks that the benchmark notices wrong bytes and pixels, and the guard larger figures
	Tests/bench.py

test-http2: all ##   runs hostile HTTP/2 servers; SDD_TEST_LONG=1: the long form
	Tests/HTTP2/run.sh

test-http3: all ##   runs hostile HTTP/3 servers, where libcurl has HTTP/3; SDD_TEST_LONG=1: the long form
	Tests/HTTP3/run.sh

test-caches: all fault-server ##   tests caches with many and killed processes, full disks; SDD_TEST_LONG=1: the long form
	$(with_server) Tests/Caches/run.sh

test-tool: all fault-server ##   runs the program sdd: options, files, signals, terminals; a few runs with valgrind
	$(with_server) Tests/Tool/run.sh plain
	$(with_server) Tests/Tool/run.sh valgrind

test-abi: all ##   checks exported symbols, linkage, and side effects of loading the library
	Tests/abi/check-symbols.sh $(LIBRARY)
	Tests/abi/check-abi.sh
	Tests/abi/check-abi.sh --test
	Tests/abi/check-migration.py
	Tests/abi/check-linkage.sh $(LIBRARY)
	Tests/abi/check-runtime.sh $(LIBRARY)
	Tests/abi/check-runtime.sh --test $(LIBRARY)
	Tests/abi/check-loading.sh $(LIBRARY)

test-binders: all ##   reads the header with bindgen, cffi, ctypesgen and SWIG; checks the package and the crate
	Tests/abi/check-binders.sh $(LIBRARY)
	Tests/abi/check-bindings.sh $(LIBRARY)

abi-description: ## writes abi/, the description that `make check` compares the header with: docs/abi.md
	Tests/abi/check-abi.sh --write

bindings: ## generates what C++, Python and Rust have of the header; run it after each change of it
	tools/bindings.sh

test-examples: all ##   runs the examples, the programs of the README and the demo
	Tests/examples.sh
	Tests/hundred.sh

test-coders: all coders fault-server ##   checks the coders of coders/: files of each format, damage, discovery, previews
	SDD_TEST_SHARE=$(half) SDD_CODER_CHANGES=100 $(with_server) Tests/Coders/run.sh

# ---- sanitizers

sanitizer_suites := sanitize-c-valgrind sanitize-swift sanitize-c-tsan sanitize-c-asan sanitize-cxx-asan sanitize-cxx-tsan \
	sanitize-shims sanitize-tool

sanitize: ## runs the tests under sanitizers, a third of them under each: TURN=0, 1, 2; and the targets of BESIDE
	Tests/suites.sh all debug-tsan fault-server -- $(sanitizer_suites:sanitize-c-tsan=$(BESIDE) sanitize-c-tsan)

sanitize-all: ## the same with everything under each of them
	$(MAKE) sanitize SHARES=

debug-tsan: # builds the library and a share of the tests with the thread sanitizer
	$(check_swift)
	SDD_TESTS=$(swift_share) swift build --build-tests --scratch-path .build-tsan --sanitize=thread

sanitize-swift: debug-tsan ##   runs a share of the Swift tests with TSan
	SDD_TESTS=$(swift_share) TSAN_OPTIONS=allocator_may_return_null=1 \
	    Tests/swift-tests.sh --skip-build --scratch-path .build-tsan --sanitize=thread

sanitize-shims: ##   runs what calls libjpeg and libpng, in C alone, with ASan and UBSan
	mkdir -p build/tests
	for shims in decode_shims encode_shims metadata_shims; do \
	    gcc -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -ISources/CJPEG/include \
	        -ISources/CPNG/include Tests/C/$$shims.c Sources/CJPEG/*.c Sources/CPNG/*.c \
	        $$(pkg-config --cflags --libs libjpeg libpng) -o build/tests/$$shims; \
	done
	find $(addprefix Tests/Fixtures/,facts jpeg png) -name '*.jpg' -o -name '*.png' | xargs build/tests/decode_shims
	build/tests/encode_shims
	find Tests/Fixtures/metadata -name '*.png' | xargs build/tests/metadata_shims

sanitize-c-asan: all fault-server ##   runs a share of the programs in C with ASan and UBSan
	$(with_server) SDD_TEST_SHARE=$(call share,0) SDD_TEST_ISOLATED_SHARE=$(isolated_share) \
	    Tests/C/run.sh asan

sanitize-c-valgrind: all fault-server ##   runs another with valgrind
	$(with_server) SDD_TEST_SHARE=$(call share,1) SDD_TEST_ISOLATED_SHARE=$(isolated_share) \
	    Tests/C/run.sh valgrind

sanitize-c-tsan: fault-server debug-tsan ##   runs the rest with TSan
	$(with_server) SDD_LIBDIR=.build-tsan/debug SDD_TEST_SHARE=$(call share,2) SDD_TEST_ISOLATED_SHARE=$(isolated_share) \
	    Tests/C/run.sh tsan

sanitize-cxx-asan: all fault-server ##   runs a share of the programs in C++ with ASan and UBSan
	$(with_server) SDD_TEST_SHARE=$(call share,0) Tests/Cxx/run.sh asan

sanitize-cxx-tsan: all fault-server ##   runs another with TSan
	$(with_server) SDD_TEST_SHARE=$(call share,1) Tests/Cxx/run.sh tsan

sanitize-tool: all fault-server ##   runs the suite of the program sdd with ASan and UBSan
	$(with_server) Tests/Tool/run.sh asan

simulate: all ## plays SEEDS of the simulation, or tells the story of one SEED: Tests/Simulation/README.md
	Tests/Simulation/run.sh $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))

torture: all fault-server ## runs the long forms of all suites, times TORTURE_SCALE, for hours: docs/reliability.md
	$(with_server) TORTURE_SCALE=$(TORTURE_SCALE) Tests/torture.sh

coverage: all coders ## prints the share of lines that the tests reach, by folder, and files below the goal
	Tests/Coverage/run.sh

fuzz: ## runs libFuzzer, with FUZZ_SECONDS, FUZZ_TARGETS and FUZZ_JOBS: see docs/fuzzing.md
	FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_JOBS=$(FUZZ_JOBS) Tests/Fuzz/run.sh $(FUZZ_TARGETS)

fuzz-coders: coders ## the same for the coders of coders/
	FUZZ_SECONDS=$(FUZZ_SECONDS) Tests/Coders/fuzz.sh

damage: all ## decodes odd and damaged files in one process with a memory limit: see docs/fuzzing.md
	Tests/Damage/run.sh

soak: all fault-server ## runs SOAK_LOADS mixed loads through one loader, a tenth with TSan: see docs/fuzzing.md
	SDD_SOAK=$(SOAK_LOADS) SDD_TEST_SECONDS=7200 $(with_server) Tests/C/run.sh plain test_soak
	SDD_SOAK=$$(($(SOAK_LOADS) / 10)) SDD_TEST_SECONDS=7200 $(with_server) Tests/C/run.sh tsan test_soak

circles: ## prints circles of files and folders in each Swift target, with what ties them together
	Tests/house/circles.py --ties SDD SDDBase SDDCaches SDDCoders SDDEngine SDDTransport

docs: ## builds the site of the documents in build/docs/html, which works offline
	@DOCS_PYTHON=$(DOCS_PYTHON) docs/site/build.sh build/docs

test-docs: all fault-server docs build/man/.made ##   compiles and runs the code of the documents; opens each page in a browser
	Tests/Docs/man.sh
	$(with_server) Tests/Docs/run.py --test
	$(with_server) Tests/Docs/run.py
	if command -v chromedriver >/dev/null || ! grep -qs '^ID=ubuntu' /etc/os-release; then \
	    $(DOCS_PYTHON) Tests/Docs/pages.py build/docs/html; \
	else echo "skip pages: no chromedriver"; fi

test-browser: all coders ## compares pictures with what Chromium shows, and writes the tables of docs/formats.md
	Tests/Browser/run.sh

format: ## formats the Swift and C code
	$(CLANG_FORMAT) -i $(formatted_c)
	swift format --in-place --recursive Package.swift Sources Tests

fault-server: # builds the server of the programs in C
	$(check_swift)
	swift build --product fault-server --scratch-path $(SCRATCH)

# ---- benchmarks

# The packages must be there before anything is built.
define run_benchmark
	bench/install.sh $(BENCH_WORK)
	$(MAKE) bench-programs
	$(BENCH_WORK)/venv/bin/python bench/run.py --work $(BENCH_WORK) $(1) $(BENCH_OPTIONS)
endef

bench: ## compares libsdd with a baseline in C and with other clients, in 15 minutes: bench/README.md
	$(call run_benchmark)

bench-quick: ## the same in two minutes, with fewer workloads; writes only to BENCH_WORK
	$(call run_benchmark,--quick)

bench-distributed: all ## compares sdd.distributed with img2dataset, in half an hour; installs 2 GB of Python packages
	bench/install.sh $(BENCH_WORK)
	$(BENCH_WORK)/venv/bin/python bench/corpus.py $(BENCH_WORK) small photo
	python3 bench/distributed.py $(BENCH_WORK) $(BENCH_OPTIONS)

bench-formats: all coders ## compares the formats of JPEG, PNG and all coders with Pillow: pixels and processor time
	python3 -m venv --system-site-packages $(BENCH_WORK)/formats
	$(BENCH_WORK)/formats/bin/pip install -q --upgrade numpy pillow pillow-heif pillow-jxl-plugin
	$(CC) -O2 -Wall -Wextra -Iinclude bench/formats.c -o build/formats -Lbuild -lsdd -Wl,-rpath,'$$ORIGIN'
	SDD_CODER_PATH=$(CURDIR)/build/coders $(BENCH_WORK)/formats/bin/python bench/formats.py build/formats \
	    $(BENCH_WORK)/formats/pictures docs/benchmarks/formats.md

bench-guard: build/libsdd.so build/sdd-guard ## fails if the library takes more instructions or memory than bench/guard/ says
	bench/guard.py

bench-guard-renew: build/libsdd.so build/sdd-guard ## writes its record in bench/guard/: bench/README.md
	bench/guard.py --renew

bench_programs := $(addprefix build/,sdd-bench sdd-scale sdd-stream sdd-decode sdd-cache sdd-loads sdd-guard \
	bench-baseline bench-relay bench-account bench-checksum.so)

bench-programs: $(bench_programs) ## builds the benchmark programs

build/sdd-%: bench/sdd_%.c $(headers) build/libsdd.so
	$(CC) -std=c99 -O2 -Wall -Wextra -pedantic -Werror -Iinclude -pthread -o $@ $(filter %.c,$^) -Lbuild -lsdd $(BENCH_LIBS) -Wl,-rpath,'$$ORIGIN'

build/sdd-bench: bench/sdd_bench_cache.c bench/checksum.c bench/sdd_bench.h bench/checksum.h

build/sdd-decode: bench/png_rgba8.h

build/sdd-decode: BENCH_LIBS = $(shell pkg-config --libs libjpeg libpng)

build/bench-baseline: $(wildcard bench/baseline/*.[ch]) bench/checksum.c bench/checksum.h bench/png_rgba8.h
	mkdir -p build
	$(CC) -std=c11 -O3 -Wall -Wextra -pedantic -Werror -pthread -o $@ $(filter %.c,$^) $$(pkg-config --cflags --libs libcurl libjpeg libpng) -lm

build/bench-%: bench/%.c
	mkdir -p build
	$(CC) -std=c11 -O2 -Wall -Wextra -pedantic -Werror -o $@ $<

build/bench-checksum.so: bench/checksum.c bench/checksum.h
	mkdir -p build
	$(CC) -std=c11 -O2 -Wall -Wextra -pedantic -Werror -shared -fPIC -o $@ $<

# ---- Debian packages, built in a copy of the tree

deb: build/deb/.built ## builds Debian packages in build/deb/: docs/packaging.md

build/deb/.built: $(sources) Makefile $(shell find pkgconfig toolkits debian docs bindings/python/src -type f)
	debian/scripts/build

check-deb: deb ## lints the packages, compares their contents with the tree; builds programs with them and runs these
	debian/scripts/check

check-installed: deb fault-server ## installs the packages in bare releases of Debian, and tests them there; as root
	$(with_server) Tests/installed.sh

check-roots: fault-server ## runs the README's commands and the packages' tests in bare releases of Debian, for hours; as root
	$(with_server) Tests/roots.sh

RELEASE ?= build/release
RELEASE_OPTIONS ?=

release: ## makes all files of a release in build/release: packages, wheel, crates, checksums; as root, for hours
	packaging/release.sh $(RELEASE_OPTIONS) $(RELEASE)

check-release: ## installs the files of a release in a bare Debian, as docs/guides/install.md says; as root
	Tests/released.sh $(RELEASE)

check-reproducible: ## builds the packages twice, in different folders and environments, and compares their bytes
	Tests/reproducible.sh

# ---- recipes of other distributions and package managers

check-recipes: all ## tries the recipes of packaging/ with their tools, as far as these are installed: docs/packaging.md
	packaging/check.sh
