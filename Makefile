# Set-up included; where make itself is missing: sh .ci/do demo, sh .ci/do test
.PHONY: demo check test bench
demo check test bench:
	@sh .ci/do $@
