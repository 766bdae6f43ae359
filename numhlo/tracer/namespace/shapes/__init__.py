"""The same elements under other shapes and axes; arrays joined and cut."""
