#!/bin/bash
# examples/plot.py draws what the examples write
. "$(dirname "$0")/tap.sh"
python=$(petsc-conf/python)
export MPLCONFIGDIR=$tmp PYTHONDONTWRITEBYTECODE=1

write() { # RANKS PROGRAM NAME OPTIONS...
  run "$1" "$lib/examples/$2" -output "$tmp/$3.h5" "${@:4}"
  is "$rc" 0 "$2 ${*:4} writes"
}
write 1 pressure z -m 16 -nz 8
write 2 pressure x -m 16 -nz 8 -axis x
ok "a small sea" "$python" tests/ocean/reference.py make "$tmp/sea.h5"
write 1 ocean ocean -file "$tmp/sea.h5"
write 1 poisson line -dim 1
write 2 poisson square -dim 2 -n 20
write 1 poisson cube -dim 3 -n 9
ok "all are drawn, and look as they should" "$python" tests/pictures/draw.py "$tmp"

# From the command line, and what cannot be drawn
rm "$tmp"/*.png
ok "a picture" "$python" examples/plot.py "$tmp/line.h5"
ok "has the name of the file" [ -s "$tmp/line.png" ]
cannot() { # FILE WORDS
  run 1 "$python" examples/plot.py "$1"
  is "$rc" 1 "$1 cannot be drawn"
  like "$out" "^plot.py: .*$2" "which is said"
  ok "without a picture" [ ! -e "${1%.h5}.png" ]
}
cannot "$tmp/none.h5" "No such file"
cannot "$tmp/sea.h5" "edges"
finish
