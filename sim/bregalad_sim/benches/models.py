"""Models of cocotbext at a block's ports: pauses, answers, what is not to be logged."""

import logging
import random


def quiet(dut, *prefixes):
    """Log only warnings of the models at these ports."""
    for prefix in prefixes:
        logging.getLogger(f"cocotb.{dut._name}.{prefix}").setLevel(logging.WARNING)


def pause(rng, probability, *interfaces):
    """Let all channels of models of cocotbext-axi pause so often, each for itself."""
    for interface in interfaces:
        for name in ("ar", "r", "aw", "w", "b"):
            if (channel := getattr(interface, f"{name}_channel", None)) is not None:
                own = random.Random(rng.random())
                channel.clear_pause_generator()
                channel.pause = False
                if probability:
                    channel.set_pause_generator(iter(lambda own=own: own.random() < probability, None))


def answer(channel, name, response):
    """Have a model answer with what ``response()`` says, in the field of this name."""
    send = channel.send

    async def respond(word):
        setattr(word, name, response())
        await send(word)

    channel.send = respond
