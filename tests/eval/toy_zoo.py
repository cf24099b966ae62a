"""A library of toys, as the zoo wants libraries."""

from eval.zoo.shrink import Plan

PACKAGE = "toy_models"
_CLASSES = ("Plain", "Printing", "Wrong", "Dying", "Unbuildable")


def preload():
    import toy_models

    assert toy_models


def names():
    return [cls.lower() for cls in _CLASSES]


def classes(name):
    return [name.capitalize()]


def plans(name):
    yield Plan(1, None, False)


def small_model(name, cls, plan):
    import toy_models

    return getattr(toy_models, cls)()
