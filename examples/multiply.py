import numpy as np
import tessera as ts

x = np.arange(35.0).reshape(5, 7)
a = ts.relation(x, tile=(2, 3)).plan("A")      # 3 x 3 tiles, smaller at the edges

gram = a.join(a, [1], [1], "matmul(transpose_b=true)").aggregate([0, 2], "add")
print(gram.explain())                          # A @ A.T, as joins and sums over tiles
print(gram.run().numpy())
assert np.array_equal(gram.run().numpy(), x @ x.T)
