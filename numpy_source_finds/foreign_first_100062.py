# other: an exception or a crash
# native: foreign InternalError: the plan is wrong: the launch of copy reads the reverse, float32[5] from buffer 1 (result 0, float32[5]), which the launch of copy (into buffer 1 (result 0, float32[5])) wrote over before at <numpy source 100062>:7 in program: w2 = v4[::-1].copy() a proof of the plan failed here: [bac
# first: foreign InternalError: the plan is wrong: the launch of copy reads the reverse, float32[5] from buffer 1 (result 0, float32[5]), which the launch of copy (into buffer 1 (result 0, float32[5])) wrote over before at <numpy source 100062>:7 in program: w2 = v4[::-1].copy() a proof of the plan failed here: [bac
# interpreter: right 
import numpy as np

import numhlo

def program(a):
    w1 = a
    v3 = a[:2]
    v4 = w1[:]
    w2 = v4[::-1].copy()
    if np.dot(w1, a):
        pass
    else:
        if np.mean(a):
            return v4
        a, v4, w2 = (v4, w2, a)
    if np.mean(v3):
        pass
    else:
        for r7, r8 in zip(w2, w2):
            v3[[0, 0, 1]] = r7
    return w2


def arguments(number):
    rng = np.random.default_rng([100062, number])
    return [rng.uniform(-0.9, 0.9, (5,)).astype(np.float32)]


if __name__ == "__main__":
    compiled = numhlo.jit(program, autograph=True, static_argnums=())
    wrong = []
    for call, number in enumerate((0, 1, 0, 1, 0)):
        want, found = arguments(number), arguments(number)
        right, got = program(*want), compiled(*found)
        right, got = (x if type(x) is tuple else (x,) for x in (right, got))
        for what, one, other in (("result", right, got), ("argument", want, found)):
            for k, (x, y) in enumerate(zip(one, other, strict=True)):
                if x is not None and not np.allclose(x, y, 2e-4, 2e-4):
                    print(f"call {call}: {what} {k} is {np.array(y).tolist()}, NumPy's {np.array(x).tolist()}")
                    wrong.append((call, what, k))
    assert not wrong, wrong
