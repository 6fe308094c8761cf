# Set-up included; where make itself is missing: sh .ci/do demo, sh .ci/do test
.PHONY: demo test bench
demo test bench:
	@sh .ci/do $@
