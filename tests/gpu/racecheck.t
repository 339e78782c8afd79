#!/bin/bash
# The kernel tests under compute-sanitizer --tool racecheck
. "$(dirname "$0")/sanitizer.sh"

sanitizer racecheck
