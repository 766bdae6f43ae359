"""Special functions in terms of plain ops: formulas, by family, and the tables of coefficients that they read.

Begin with `decompositions`, which has one for each name and operand type; the names are in `special`, a folder above.
"""
