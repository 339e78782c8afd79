# Strata: `make demo` shows it at work, `make check` tests it, `make help` lists the rest.
#
# PETSc is the one that PETSC_DIR (and PETSC_ARCH) name, else the one that pkg-config knows, else Debian's.
# CUDA=0 leaves the GPU code out; SANITIZE=address,undefined builds with sanitizers.

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
all:

top := $(patsubst %/,%,$(dir $(abspath $(firstword $(MAKEFILE_LIST)))))
include petsc-conf/petsc

# ---- what is built, and where
library_c    := $(wildcard src/*/*.c)
library_cu   := $(if $(filter 1,$(CUDA)),$(wildcard src/*/cuda/*.cu))
library_o    := $(library_c:%.c=$(build)/%.o) $(library_cu:%.cu=$(build)/%.cu.o)
library      := $(build)/libstrata.so
tests        := $(patsubst tests/%.c,%,$(wildcard tests/*.c))
test_names   := $(if $(T),$(filter $(T),$(tests)),$(tests))
examples     := $(patsubst %.c,$(build)/%,$(wildcard examples/*.c))

cflags  = -std=gnu11 -O3 -g -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -ffp-contract=off -fPIC -fvisibility=hidden $(sanitize) -Iinclude $(PETSC_CC_INCLUDES) -DSTRATA_HAVE_CUDA=$(CUDA) $(CFLAGS)
cuflags = $(CUDAC_FLAGS) -O3 --fmad=false -Xcompiler -fvisibility=hidden -Iinclude $(PETSC_CC_INCLUDES) $(CUDA_INCLUDE) -DSTRATA_HAVE_CUDA=1 -MMD -MP

all: $(library) $(examples)

$(build)/%.o: %.c $(build)/flags
	@mkdir -p $(@D)
	$(CC) $(cflags) -MMD -MP -c -o $@ $<
$(build)/%.cu.o: %.cu $(build)/flags
	@mkdir -p $(@D)
	$(CUDAC) $(cuflags) -c -o $@ $<
$(library): $(library_o)
	$(CLINKER) -shared -Wl,-soname,libstrata.so $(sanitize) -o $@ $^ $(petsc_link)
$(build)/examples/%: $(build)/examples/%.o $(library)
	$(CLINKER) $(sanitize) -o $@ $< -L$(build) -Wl,-rpath,'$$ORIGIN/..' -lstrata $(petsc_link) -lm

# ---- tests: each is linked with the objects of the library, so that it can call what the library hides
test_environment = export STRATA_TEST=1 lib='$(top)/$(build)' PETSC_DIR='$(PETSC_DIR)' PETSC_ARCH='$(PETSC_ARCH)' CUDA='$(CUDA)' \
  SANITIZE='$(SANITIZE)' MPIEXEC='$(MPIEXEC)' petsc_version='$(petsc_version)'

$(build)/tests/%.o: cflags += $(CUDA_INCLUDE)
$(build)/tests/%: $(build)/tests/%.o $(library_o)
	$(CLINKER) $(sanitize) -o $@ $^ $(petsc_link) -lm
.SECONDARY: $(tests:%=$(build)/tests/%.o)

check: all $(test_names:%=$(build)/tests/%)
	@$(test_environment); tests/check $(T)
test-environment:
	@echo "$(test_environment)"

# What the objects depend on besides their sources: a change of flags or of PETSc builds them anew
$(build)/flags: FORCE
	@mkdir -p $(@D); echo '$(CC) $(cflags) $(CUDAC) $(cuflags) $(petsc_link)' >$@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
FORCE:

where:
	@echo $(top)/$(build)

clean:
	rm -rf build

-include $(library_o:.o=.d) $(examples:=.d) $(tests:%=$(build)/tests/%.d)

.PHONY: all check test-environment where clean FORCE
