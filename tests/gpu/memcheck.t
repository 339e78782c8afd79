#!/bin/bash
# The kernel tests under compute-sanitizer --tool memcheck
. "$(dirname "$0")/sanitizer.sh"

sanitizer memcheck
