# Set-up included; where make itself is missing: sh .ci/do demo, sh .ci/do test
.PHONY: demo check test docs bench
demo check test docs bench:
	@sh .ci/do $@
