"""The blocks of a stream: runs of instances during which a tree stands still."""


class Blocks:
    """Mixin of a tree that has ``options``, ``event_counts`` and ``leaves``: what happens at a block's end."""

    watched = False  # a change of errors waits for a block's end, so blocks stay as short as those of one leaf

    def _begin_block(self):
        self._begun = self.event_counts.instances
        one = self.watched or self.options.at_once
        self._ends = self._begun + self.options.length(1 if one else self.leaves)

    def _end_block(self):
        self._take_effect(self._begun)
        for node in self._due():
            self._try(node)
        if self.options.at_once:
            self._take_effect()
        self._begin_block()

    @property
    def _decision_time(self):
        """When what errors, or tests of alternates, come to is decided, so that it takes effect at the block's end."""
        return self.event_counts.instances if self.options.at_once else self._begun - 1

    def settle(self):
        """Have all decisions take effect; a block begins."""
        self._take_effect()
        self._begin_block()

    def _take_effect(self, made=float("inf")):
        """Carry out what was decided when so many instances were learnt, or before; upper nodes first."""
        raise NotImplementedError

    def _due(self):
        """Nodes whose period is over."""
        raise NotImplementedError

    def _try(self, node):
        """Begin another period of a node; decide whether it is to change."""
        raise NotImplementedError
