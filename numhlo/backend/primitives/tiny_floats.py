"""Loads, stores and rounding of the floats of eight bits and less; `memory` has their classes and the other types."""

from __future__ import annotations

from numhlo.backend.primitives.memory import Load, Round, Store, StoreRounded
from numhlo.backend.primitives.storage import STORAGES

F4E2M1FN = STORAGES["f4e2m1fn"]
F6E2M3FN, F6E3M2FN = STORAGES["f6e2m3fn"], STORAGES["f6e3m2fn"]
F8E3M4, F8E4M3, F8E4M3FN = STORAGES["f8e3m4"], STORAGES["f8e4m3"], STORAGES["f8e4m3fn"]
F8E4M3FNUZ, F8E4M3B11FNUZ = STORAGES["f8e4m3fnuz"], STORAGES["f8e4m3b11fnuz"]
F8E5M2, F8E5M2FNUZ = STORAGES["f8e5m2"], STORAGES["f8e5m2fnuz"]
F8E8M0FNU = STORAGES["f8e8m0fnu"]

load_f4e2m1fn, store_f4e2m1fn, round_f4e2m1fn = Load(F4E2M1FN), Store(F4E2M1FN), Round(F4E2M1FN)
load_f6e2m3fn, store_f6e2m3fn, round_f6e2m3fn = Load(F6E2M3FN), Store(F6E2M3FN), Round(F6E2M3FN)
load_f6e3m2fn, store_f6e3m2fn, round_f6e3m2fn = Load(F6E3M2FN), Store(F6E3M2FN), Round(F6E3M2FN)
load_f8e3m4, store_f8e3m4, round_f8e3m4 = Load(F8E3M4), Store(F8E3M4), Round(F8E3M4)
load_f8e4m3, store_f8e4m3, round_f8e4m3 = Load(F8E4M3), Store(F8E4M3), Round(F8E4M3)
load_f8e4m3fn, store_f8e4m3fn, round_f8e4m3fn = Load(F8E4M3FN), Store(F8E4M3FN), Round(F8E4M3FN)
load_f8e4m3fnuz, store_f8e4m3fnuz, round_f8e4m3fnuz = Load(F8E4M3FNUZ), Store(F8E4M3FNUZ), Round(F8E4M3FNUZ)
load_f8e4m3b11fnuz, store_f8e4m3b11fnuz = Load(F8E4M3B11FNUZ), Store(F8E4M3B11FNUZ)
round_f8e4m3b11fnuz = Round(F8E4M3B11FNUZ)
load_f8e5m2, store_f8e5m2, round_f8e5m2 = Load(F8E5M2), Store(F8E5M2), Round(F8E5M2)
load_f8e5m2fnuz, store_f8e5m2fnuz, round_f8e5m2fnuz = Load(F8E5M2FNUZ), Store(F8E5M2FNUZ), Round(F8E5M2FNUZ)
load_f8e8m0fnu, store_f8e8m0fnu, round_f8e8m0fnu = Load(F8E8M0FNU), Store(F8E8M0FNU), Round(F8E8M0FNU)

store_rounded_f8e3m4 = StoreRounded(F8E3M4)
store_rounded_f8e4m3 = StoreRounded(F8E4M3)
store_rounded_f8e5m2 = StoreRounded(F8E5M2)
