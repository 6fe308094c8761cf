# Set-up included; where make itself is missing: sh .ci/do demo, sh .ci/do test
.PHONY: demo check test nightly docs bench
demo check test nightly docs bench:
	@sh .ci/do $@
