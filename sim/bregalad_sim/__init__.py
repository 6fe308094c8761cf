"""Golden model, reference learners, cocotb benches and the compiled simulation."""
