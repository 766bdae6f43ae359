"""The example package is imported by its tests alone: importing it adds its passes and ops to the process."""

collect_ignore = ["example_package"]
