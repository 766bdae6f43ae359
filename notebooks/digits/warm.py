"""A second process that finds the first one's kernels on disk: the seconds of each part's first call, as JSON."""

import json

from benchmarks.timing import seconds_of
from notebooks.digits import data, learning, parts


def main() -> None:
    """Print the seconds from each first call until its machine code has run."""
    found = {}
    for name, arguments in parts.arguments(data.load()).items():
        function = getattr(learning, name)

        def ready(function=function, arguments=arguments):
            function(*arguments)
            function.wait()

        found[name] = seconds_of(ready)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
