"""Kernels by name, with NumPy and SciPy as the oracles."""
import numpy as np
import pytest
import scipy.sparse as sp

import tessera as ts

k = ts.kernels
RNG = np.random.default_rng(7)
A, B = RNG.normal(size=(6, 4)), RNG.normal(size=(4, 5))
S = sp.random(6, 4, 0.3, "csr", random_state=1)


def test_products():
    assert np.allclose(k.matmul(A, B), A @ B)
    assert np.allclose(k.matMul(A.T, B, transpose_a=True), A @ B)
    assert np.allclose(k.matmul(S, B), S @ B)
    assert np.allclose(k.matmul(A, S, transpose_b=True), A @ S.T.toarray())
    product = k.matmul(S, sp.csr_matrix(B))
    assert product.is_sparse and np.allclose(product.scipy().toarray(), S @ B)
    assert np.allclose(k.outer(A[0], B[0]), np.outer(A[0], B[0]))
    assert np.allclose(k.inner(A, A), (A * A).sum())
    batch = RNG.normal(size=(3, 6, 4))
    assert np.allclose(k.batched_matmul(batch, RNG.normal(size=(3, 4, 2)) * 0 + 1), batch @ np.ones((3, 4, 2)))
    mask = sp.random(6, 5, 0.4, "csr", random_state=2)
    assert np.allclose(k.sampled_matmul(mask, A, B).scipy().toarray(), mask.toarray() * (A @ B))


@pytest.mark.parametrize("name, function", [
    ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide),
    ("maximum", np.maximum), ("minimum", np.minimum), ("less", np.less), ("equal", np.equal)])
@pytest.mark.parametrize("left", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("right", [np.float32, np.float64, np.int64, np.bool_])
def test_binary_kernels_promote_and_broadcast_like_numpy(name, function, left, right):
    a = RNG.integers(0, 3, (3, 1, 4)).astype(left)
    b = RNG.integers(0, 3, (5, 1)).astype(right)
    try:
        with np.errstate(all="ignore"):
            expected = function(a, b)
    except TypeError:
        with pytest.raises(ts.TypeError):
            getattr(k, name)(a, b)
        return
    actual = getattr(k, name)(a, b).numpy()
    if name == "div" and expected.dtype == np.float32 and left != np.float32 and right != np.float32:
        expected = expected.astype(np.float64)
    assert actual.dtype == expected.dtype or expected.dtype == np.float16
    assert np.array_equal(actual, expected, equal_nan=True)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh", "abs"])
def test_unary_kernels(name):
    with np.errstate(all="ignore"):
        assert np.allclose(getattr(k, name)(A), getattr(np, name)(A), equal_nan=True)


def test_activations():
    assert np.allclose(k.relu(A), np.maximum(A, 0))
    assert np.allclose(k.reluDeriv(A), (A > 0))
    assert np.allclose(k.sigmoid(A), 1 / (1 + np.exp(-A)))
    e = np.exp(A - A.max(axis=1, keepdims=True))
    assert np.allclose(k.softmax(A), e / e.sum(axis=1, keepdims=True))
    assert np.allclose(k.crossEntropyDeriv(A, A * 0.5), A * 0.5)


@pytest.mark.parametrize("name, function", [("sum", np.sum), ("product", np.prod), ("max", np.max),
                                            ("min", np.min), ("all", np.all), ("any", np.any)])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 2), (0, 1, 2), (-1,)])
def test_reductions(name, function, axes):
    x = RNG.integers(-2, 3, (3, 4, 5)).astype(np.float64)
    assert np.allclose(getattr(k, name)(x, axes=list(axes)), function(x, axis=axes))
    assert np.allclose(getattr(k, name)(x, axes=list(axes), keepdims=True), function(x, axis=axes, keepdims=True))


def test_argument_reductions_and_the_papers_names():
    assert np.array_equal(k.argmin(A, axes=[1]), A.argmin(axis=1))
    assert np.array_equal(k.minIndex(A), A.argmin(axis=1))
    assert np.allclose(k.rowSum(A), A.sum(axis=1))
    assert k.count_nonzero(S).numpy() == S.nnz


def test_rearrangements():
    x = RNG.normal(size=(2, 3, 4))
    assert np.array_equal(k.permute(x, axes=[2, 0, 1]), x.transpose(2, 0, 1))
    assert np.array_equal(k.reshape(x, shape=[6, -1]), x.reshape(6, -1))
    assert np.array_equal(k.tile(x, repeats=[1, 2, 1]), np.tile(x, (1, 2, 1)))
    assert np.array_equal(k.concat(x, x, axis=1), np.concatenate([x, x], axis=1))
    assert np.array_equal(k.pad(x, before=[0, 1, 0], after=[2, 0, 1]), np.pad(x, [(0, 2), (1, 0), (0, 1)]))
    assert np.array_equal(k.diag(A[:4]), np.diag(A[:4]))
    assert np.array_equal(k.diag(A[0]), np.diag(A[0]))


def test_factorisations():
    m = RNG.normal(size=(5, 5))
    spd = m @ m.T + 5 * np.eye(5)
    assert np.allclose(k.inverse(m), np.linalg.inv(m))
    assert np.allclose(k.solve(m, A[:5]), np.linalg.solve(m, A[:5]))
    assert np.allclose(k.cholesky(spd), np.linalg.cholesky(spd))
    q, r = k.qr(A)
    assert np.allclose(q.numpy() @ r.numpy(), A)
    u, s, vt = k.svd(A)
    assert np.allclose(s, np.linalg.svd(A, compute_uv=False))
    assert np.allclose((u.numpy() * s.numpy()) @ vt.numpy(), A)
    values, vectors = k.eigh(spd)
    assert np.allclose(values, np.linalg.eigvalsh(spd))
    assert np.allclose(spd @ vectors.numpy(), vectors.numpy() * values.numpy())
    with pytest.raises(ts.ValueError, match="singular"):
        k.inverse(np.zeros((2, 2)))


def test_convolution_against_scipy():
    from scipy.signal import correlate
    image, weights = RNG.normal(size=(2, 9, 8)), RNG.normal(size=(3, 2, 3, 2))
    expected = np.stack([sum(correlate(image[c], w[c], "valid") for c in range(2)) for w in weights])
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-4)):
        actual = k.conv(image.astype(dtype), weights.astype(dtype)).numpy()
        assert actual.dtype == dtype and np.allclose(actual, expected, atol=tolerance)
    assert np.allclose(k.conv(image, weights, stride=[2, 3]), expected[:, ::2, ::3])


def test_kernels_describe_themselves():
    matmul = ts.Kernel("matMul")
    assert str(matmul) == "matmul" and 1 in matmul.properties["linear_in"]
    assert matmul.infer(A, B) == ["f64[6x5]"]
    assert matmul.cost(A, B)["flops"] == 2 * 6 * 4 * 5
    assert str(ts.Kernel("sum(axes=[0])")) == "sum(axes=[0])"
    assert "matmul" in ts.kernel_names() and "matMul" in ts.kernel_aliases()
    with pytest.raises(AttributeError, match="kernel 'nonsense' not found"):
        k.nonsense
    with pytest.raises(ts.TypeError, match=r"f64\[6x4\] and f64\[6x4\]"):
        k.matmul(A, A)


def test_parameters_may_be_numpys_or_none():
    assert np.allclose(k.sum(A, axes=np.int64(0)), A.sum(axis=0))
    assert np.allclose(k.sum(A, axes=None, keepdims=np.bool_(True)), A.sum(keepdims=True))
    assert np.allclose(k.add_scalar(A, value=np.float32(1)), A + 1)
    for axes in ([0.5], 2**70, object()):
        with pytest.raises(ts.TypeError, match="parameter 'axes'"):
            k.sum(A, axes=axes)
    with pytest.raises(ts.TypeError, match="add_scalar: parameter 'value'"):
        k.add_scalar(A, value="x")
