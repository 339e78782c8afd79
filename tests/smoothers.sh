# PETSc's own tutorials, unmodified, with multigrid whose smoother is hierarchical Jacobi: as few cycles as Chebyshev with Jacobi, on any mesh. Included
# by tests after tap.sh.

memory=() # options that say where vectors and matrices are

# The iterations of all outer solves, with a word for those that failed
counts() { sed -n 's/^ *\(Linear solve\|Nonlinear solve\) converged due to [A-Z_]* iterations \([0-9]*\)/\2/p; s/.*did not converge.*/failed/p' <<<"$out" | tr '\n' ' '; }
most() { tr ' ' '\n' <<<"$1" | grep . | sort -n | tail -n 1; }

cycles() { # RANKS PROGRAM OPTIONS...: sets $its
  run "$1" "$program" -dll_append "$lib/libstrata.so" -pc_type mg -ksp_converged_reason -options_left "${memory[@]}" "${@:2}"
  its=$(counts)
}

tutorial() { # NAME OPTIONS...
  local name=$1 ranks k chebyshev
  program=$lib/tutorials/${name/-//tutorials/}
  program=${program/ksp\/tutorials/ksp/ksp/tutorials}
  shift
  if [ ! -x "$program" ]; then
    skip "this PETSc has no tutorials"
    return
  fi
  for ranks in 1 3; do
    for k in 2 4; do
      [ $ranks$k != 34 ] || continue
      cycles $ranks "$@" -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi -mg_levels_ksp_max_it $k
      chebyshev=$its
      for smoother in "-mg_levels_ksp_type richardson -mg_levels_pc_type hjacobi -mg_levels_ksp_max_it 1 -mg_levels_pc_hjacobi_subiterations $k" \
        "-mg_levels_ksp_type hjacobi -mg_levels_ksp_max_it 1 -mg_levels_ksp_hjacobi_schedule chebyshev -mg_levels_ksp_hjacobi_subiterations $k" \
        "-mg_levels_ksp_type chebyshev -mg_levels_ksp_max_it $k -mg_levels_pc_type hjacobi -mg_levels_pc_hjacobi_subiterations 1 -mg_levels_pc_hjacobi_schedule constant"; do
        cycles $ranks "$@" $smoother
        is "$rc: $its" "0: $chebyshev" "$name on $ranks: $smoother takes as many cycles as Chebyshev($k) with Jacobi"
        like "$out" "no unused options" "no option is left"
      done
    done
    cycles $ranks "$@" -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi
    chebyshev=$its
    for smoother in richardson chebyshev; do
      [ $name-$smoother != ksp-ex25-chebyshev ] || continue # a polynomial of a polynomial, for other eigenvalues than there are: 3 cycles, not 2
      cycles $ranks "$@" -mg_levels_ksp_type $smoother -mg_levels_pc_type hjacobi
      ok "$name on $ranks: $smoother with the defaults takes no more ($its) than Chebyshev ($chebyshev)" [ "$rc" = 0 -a "$(most "$its")" -le "$(most "$chebyshev")" ]
    done
  done
}
smoothed_tutorials() {
  tutorial ksp-ex25 -da_refine 4 -pc_mg_levels 4 -ksp_type cg
  tutorial ksp-ex29 -da_grid_x 9 -da_grid_y 9 -da_refine 3 -pc_mg_levels 4 -ksp_type gmres -ksp_rtol 1e-8
  tutorial ksp-ex45 -da_refine 2 -pc_mg_levels 3 -ksp_type gmres -ksp_rtol 1e-8
  tutorial ksp-ex34 -da_grid_x 16 -da_grid_y 16 -da_grid_z 16 -pc_mg_levels 3 -ksp_type cg -ksp_rtol 1e-8
  tutorial snes-ex5 -da_refine 4 -pc_mg_levels 4 -snes_converged_reason
}

# A finer mesh takes no more
finer_meshes() {
  program=$lib/tutorials/ksp/ksp/tutorials/ex29
  if [ -x "$program" ]; then
    for smoother in "-mg_levels_ksp_type richardson -mg_levels_pc_type hjacobi" "-mg_levels_ksp_type hjacobi -mg_levels_ksp_hjacobi_schedule chebyshev"; do
      all=
      for refine in 3 4 5; do
        cycles 1 -da_grid_x 9 -da_grid_y 9 -da_refine $refine -pc_mg_levels $((refine + 1)) -ksp_type gmres -ksp_rtol 1e-8 $smoother
        all="$all$its"
      done
      ok "$smoother: $all on finer and finer meshes" [ "$(most "$all")" -le $(($(cut -d ' ' -f 1 <<<"$all") + 1)) ]
    done
  else
    skip "this PETSc has no tutorials"
  fi
}
