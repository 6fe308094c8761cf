"""The golden model, compiled: the functions of ``sim/bregalad_sim/golden/`` on arrays, under their names."""
