# Strata: `make demo` shows it at work, `make check` tests it, `make help` lists the rest. docs/install.md says more.
#
# Every build has a folder of its own in build/, named after its PETSc: see petsc-conf/petsc, which finds PETSc.

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
all:

top := $(CURDIR)
include petsc-conf/petsc

version := $(shell sed -n 's/^.define STRATA_VERSION_[A-Z]* *//p' include/strata.h | paste -sd.)
PREFIX  ?= /usr/local

define help
  make                  builds the library and the examples
  make demo             solves the pressure and the ocean problem, results and pictures in build/demo; first installs what is missing
  make check            runs all tests; first installs what is missing.  T="name name": only these tests
  make install          installs into PREFIX=/usr/local, below DESTDIR if given;  make uninstall  removes the same files
  make where            prints the folder with libstrata.so, and with the programs in examples/ below it
  make clean            removes all builds
  make petsc-cuda       builds a PETSc with CUDA and prints its PETSC_DIR.  CUDA_ARCH=90 CUDA_HOME=/usr/local/cuda
  make gpu-check        on a machine with a GPU: tests the kernels there, log in build/
  make gpu-bundle       packs what gpu-check needs for a machine with a GPU but no PETSc
  make gpu-record       LOG=file or UNVERIFIED="reason": writes tests/gpu/RECORD
  make bench, bench-cpu measures the speed on a GPU, on the CPU
  make bench-bytes      after make bench: what an iteration of conjugate gradients moves in the memory of the GPU, with its counters (ncu)

Settings: PETSC_DIR and PETSC_ARCH (else pkg-config's PETSc, else Debian's), CUDA=0 (no GPU code), SANITIZE=address,undefined,
CFLAGS. Strata $(version) would be built $(if $(petsc_problem),with nothing: $(petsc_problem),in $(build))
endef

help:
	@: $(info $(help))
clean:
	rm -rf build

# Whatever the machine lacks is installed first; then make starts anew, since it may find another PETSc. On all cores unless told.
again = $(MAKE_COMMAND) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

needs = petsc_missing='$(petsc_missing)' petsc_problem='$(petsc_problem)' petsc_root='$(petsc_root)' petsc_version='$(petsc_version)' \
  mpiexec='$(firstword $(MPIEXEC))' petsc-conf/needs

demo:
	@$(needs) demo
	@+$(again) demo-run
check:
	@$(needs) check
	@+$(again) check-run
petsc-cuda:
	@petsc-conf/petsc-cuda
gpu-record:
	@tests/gpu/record $(if $(UNVERIFIED),-u '$(subst ','\'',$(UNVERIFIED))',$(or $(LOG),build/gpu-check.log))

.PHONY: all help clean demo demo-run check check-run petsc-cuda install uninstall where environment includes links bench bench-bytes bench-cpu gpu-check gpu-bundle gpu-record

ifneq ($(petsc_problem),)
all demo-run check-run install uninstall where environment includes links bench bench-bytes bench-cpu gpu-check gpu-bundle:
	@: $(error $(petsc_problem))
else

ifneq ($(cuda),1)
gpu-check gpu-bundle bench bench-bytes:
	@: $(error $@ needs a PETSc with CUDA, and $(petsc_root) has none: export PETSC_DIR=$$(make -s petsc-cuda) PETSC_ARCH=)
endif

# ---- what is built, and where
library      := $(build)/libstrata.so
library_c    := $(wildcard src/*/*.c)
library_cu   := $(if $(filter 1,$(cuda)),$(wildcard src/*/cuda/*.cu))
library_o    := $(library_c:%=$(build)/%.o) $(library_cu:%=$(build)/%.o)
examples     := $(patsubst %.c,$(build)/%,$(wildcard examples/*.c))
tests        := $(patsubst tests/%.c,%,$(wildcard tests/*.c))

cflags  := $(strip -std=gnu11 -O3 -g -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -ffp-contract=off -fPIC \
  -fvisibility=hidden $(sanitize) -Iinclude $(PETSC_CC_INCLUDES) -DSTRATA_HAVE_CUDA=$(cuda) $(CFLAGS))
cuflags := $(strip $(filter-out -O%,$(CUDAC_FLAGS)) -O3 -lineinfo --fmad=false -Xcompiler -fvisibility=hidden -Iinclude $(PETSC_CC_INCLUDES) \
  $(CUDA_INCLUDE) -DSTRATA_HAVE_CUDA=1)
flags   := $(CC) $(cflags) $(CUDAC) $(cuflags) $(petsc_link)

all: $(library) $(examples) $(build)/strata.pc

$(build)/%.c.o: %.c $(build)/flags
	@mkdir -p $(@D)
	$(CC) $(cflags) -MMD -MP -c -o $@ $<
$(build)/%.cu.o: %.cu $(build)/flags
	@mkdir -p $(@D)
	$(CUDAC) $(cuflags) -MMD -MP -c -o $@ $<
$(library): $(library_o) $(build)/sources petsc-conf/exports
	$(CLINKER) -shared -Wl,-soname,libstrata.so -Wl,--version-script=petsc-conf/exports $(sanitize) -o $@ $(library_o) $(petsc_link) -lm
$(build)/examples/%: $(build)/examples/%.c.o $(library)
	$(CLINKER) $(sanitize) -o $@ $< -L$(build) -Wl,-rpath,'$$ORIGIN/..' -lstrata $(petsc_link) -lm

# Tests are linked with the objects of the library, so that they can call what the library hides
$(build)/tests/%: $(build)/tests/%.c.o $(library_o)
	$(CLINKER) $(sanitize) -o $@ $^ $(petsc_link) -lm
$(build)/tests/%.c.o: cflags += $(CUDA_INCLUDE)

# PETSc's own tutorials, unmodified and built without Strata, to load it into
tutorials := $(firstword $(wildcard $(addsuffix /ksp/ksp/tutorials,$(PETSC_DIR)/src $(PETSC_DIR)/share/petsc/examples/src $(if $(filter \
  /usr/lib/petscdir/%,$(realpath $(petsc_root))),/usr/share/petsc/$(basename $(petsc_version))/share/petsc/examples/src))))
tutorials := $(tutorials:/ksp/ksp/tutorials=)
tutorial_programs := $(if $(tutorials),$(addprefix $(build)/tutorials/ksp/ksp/tutorials/ex,2 25 29 32 34 45 50) $(addprefix \
  $(build)/tutorials/snes/tutorials/ex,5 14))
$(build)/tutorials/%: $(tutorials)/%.c $(build)/flags
	@mkdir -p $(@D)
	$(CC) -g -O1 $(sanitize) $(PETSC_CC_INCLUDES) -o $@ $< $(petsc_link) -lm

# A change of PETSc or of the flags builds all objects anew, and one in the list of sources links the library anew
sources := $(library_o)
define remember
ifneq ($$($(1)),$$(shell cat $$(build)/$(1) 2>/dev/null))
.PHONY: $$(build)/$(1)
endif
endef
$(eval $(call remember,flags))
$(eval $(call remember,sources))
$(build)/flags $(build)/sources:
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$($(@F)))' >$@

programs_o := $(examples:%=%.c.o) $(patsubst %,$(build)/%.o,$(wildcard tests/*.c tests/bench/*.c tests/bench/*.cu))
.SECONDARY: $(programs_o)
-include $(wildcard $(patsubst %.o,%.d,$(library_o) $(programs_o)))

# ---- to be used by other programs: `pkg-config strata`, and petsc-conf/variables in makefiles
strata_pc = sed -e 's|@include@|$(1)|' -e 's|@lib@|$(2)|' -e 's|@cc@|$(CC)|' -e 's|@version@|$(version)|' -e 's|@petsc_link@|$(strip $(petsc_link))|' \
  -e 's|@petsc_include@|$(PETSC_CC_INCLUDES)|' petsc-conf/strata.pc.in
installed = $(addprefix $(DESTDIR)$(PREFIX)/,include/strata.h lib/libstrata.so lib/pkgconfig/strata.pc $(addprefix share/strata/petsc-conf/,variables \
  rules petsc installed))

blank := $() $()
escaped = $(subst $(blank),\\ ,$(1))
prefix_problem := $(if $(word 2,x$(DESTDIR)x$(PREFIX)x),PREFIX and DESTDIR must be folders without a blank in their names)
prefix_problem := $(or $(prefix_problem),$(if $(filter /%,$(PREFIX)),,PREFIX must be the whole name of a folder$(comma) beginning with /))

$(build)/strata.pc: petsc-conf/strata.pc.in include/strata.h $(build)/flags
	@$(call strata_pc,$(call escaped,$(top)/include),$(call escaped,$(top)/$(build))) >$@

ifneq ($(prefix_problem),)
install uninstall:
	@: $(error $(prefix_problem))
else
install: $(library)
	install -d $(sort $(dir $(installed)))
	install -m 644 include/strata.h $(DESTDIR)$(PREFIX)/include
	install -m 755 $(library) $(DESTDIR)$(PREFIX)/lib
	install -m 644 petsc-conf/variables petsc-conf/rules petsc-conf/petsc $(DESTDIR)$(PREFIX)/share/strata/petsc-conf
	@$(call strata_pc,$(PREFIX)/include,$(PREFIX)/lib) >$(DESTDIR)$(PREFIX)/lib/pkgconfig/strata.pc
	@printf '%s\n' '# The PETSc that this Strata was built for' 'strata_petsc := $(realpath $(petsc_root))' 'PETSC_DIR ?= $(PETSC_DIR)' \
	  'PETSC_ARCH ?= $(PETSC_ARCH)' >$(DESTDIR)$(PREFIX)/share/strata/petsc-conf/installed
uninstall:
	rm -f $(installed)
	rmdir $(addprefix $(DESTDIR)$(PREFIX)/share/strata,/petsc-conf /) 2>/dev/null || true
endif

where:
	@echo $(top)/$(build)

# ---- the demonstration, the tests, and what they find in their environment (tests/tap.sh says what each is)
environment = export STRATA_TEST=1 lib='$(top)/$(build)' PETSC_DIR='$(PETSC_DIR)' PETSC_ARCH='$(PETSC_ARCH)' petsc_version='$(petsc_version)' \
  index_size='$(PETSC_INDEX_SIZE)' CC='$(CC)' CUDA='$(cuda)' SANITIZE='$(SANITIZE)' MPIEXEC='$(MPIEXEC)'

environment:
	@echo "$(environment)"
includes:
	@echo '$(PETSC_CC_INCLUDES)'
links:
	@echo '$(petsc_link)'
demo-run: all
	@$(environment); examples/demo
build/demo/levitus.h5: examples/levitus.py
	@mkdir -p $(@D)
	$$(petsc-conf/python) $< $@
check-run: all $(patsubst %,$(build)/tests/%,$(filter $(or $(T),%),$(tests))) $(if $(filter $(or $(T),%),loading smoother),$(tutorial_programs))
	@$(environment); tests/check $(T)

# ---- speed, on the CPU and on a GPU: reports go to docs/performance
$(build)/bench/%: $(build)/tests/bench/%.o $(library_o)
	@mkdir -p $(@D)
	$(CLINKER) $(sanitize) -o $@ $^ $(petsc_link) -lm
bench-cpu: $(build)/bench/cpu.c
	@$(environment); tests/ranks 1 $< -report docs/performance/cpu.json

# ---- on a GPU
ifeq ($(cuda),1)
benchmarks := $(patsubst tests/bench/%,$(build)/bench/%,$(wildcard tests/bench/*.cu))
bench: $(benchmarks)
	@$(environment); for program in $^; do tests/ranks 1 $$program docs/performance/$$(basename $$program .cu).json || exit; done; \
	  tests/ranks 2 $(build)/bench/apply.cu docs/performance/apply2.json
bench-bytes: $(build)/bench/cg.cu
	@$(environment); tests/ranks 1 tests/bench/bytes $< docs/performance/cg.json
gpu-check: all $(tests:%=$(build)/tests/%) $(tutorial_programs)
	@$(environment); tests/gpu/check $(or $(LOG),build/gpu-check.log)
gpu-bundle: all build/demo/levitus.h5 $(build)/bundle/all $(tutorial_programs)
	@$(environment); tests/gpu/bundle build/gpu-bundle.tar.xz

# All tests and benchmarks in one program, which is the one that its name says: the kernels are in the bundle once, not in every test
bundled := $(tests) $(benchmarks:$(build)/bench/%.cu=bench_%)
$(build)/bundle/all: $(bundled:%=$(build)/bundle/%.o) $(library_o)
	{ echo '#include <string.h>'; printf 'int main_%s(int, char **);\n' $(bundled); echo 'int main(int argc, char **argv) {'; \
	  echo 'const char *name = strrchr(argv[0], 47) ? strrchr(argv[0], 47) + 1 : argv[0];'; \
	  printf 'if (!strcmp(name, "%s")) return main_%s(argc, argv);\n' $(foreach name,$(bundled),$(name) $(name)); echo 'return 127; }'; } >$@.c
	$(CLINKER) -o $@ $@.c $^ $(petsc_link) -lm
	cd $(@D) && for name in $(bundled); do ln -f all $$name; done
$(build)/bundle/bench_%.o: $(build)/tests/bench/%.cu.o
	@mkdir -p $(@D)
	objcopy --redefine-sym main=main_bench_$* $< $@
$(build)/bundle/%.o: $(build)/tests/%.c.o
	@mkdir -p $(@D)
	objcopy --redefine-sym main=main_$* --keep-global-symbol=main_$* $< $@
endif

endif
