"""A guard and its exception for check_helper_builtin_any, outside the compiled file."""


class CheckError(Exception):
    """Raised when a validated condition does not hold."""


def check(condition, message, raises=True):
    if not condition:
        if not raises:
            return False
        raise CheckError(f"{message} (check failed)")
    return True
