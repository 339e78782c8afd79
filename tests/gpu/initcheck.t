#!/bin/bash
# The kernel tests under compute-sanitizer --tool initcheck
. "$(dirname "$0")/sanitizer.sh"

sanitizer initcheck
