"""cocotb benches, one per block, and one for the whole accelerator."""
