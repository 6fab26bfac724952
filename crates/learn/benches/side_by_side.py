"""The Python half of side_by_side.rs: usual learners on the same rows, on logarithms.

Each is fitted for each of five folds and once on all rows, as harp judges its candidates too.
"""
import csv
import sys
import time
import warnings

import numpy
from lightgbm import LGBMRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

warnings.filterwarnings("ignore")
rows = list(csv.reader(open(sys.argv[1])))
inputs = numpy.log([[float(cell) for cell in row[:-2]] for row in rows])
seconds = numpy.array([float(row[-2]) for row in rows])
tested = numpy.array([row[-1] == "test" for row in rows])
train, target = inputs[~tested], numpy.log(seconds[~tested])

kernel = ConstantKernel() * RBF(numpy.ones(inputs.shape[1])) + WhiteKernel()
learners = {
    "ridge": RidgeCV(alphas=numpy.logspace(-4, 2, 7)),
    "tree": DecisionTreeRegressor(random_state=1),
    "random forest, 300 trees": RandomForestRegressor(n_estimators=300, random_state=1),
    "LightGBM, 300 trees": LGBMRegressor(n_estimators=300, verbose=-1, random_state=1),
    "Gaussian process": GaussianProcessRegressor(kernel, normalize_y=True, random_state=1),
    "network 128-64": make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(128, 64), max_iter=500, random_state=1)),
}
whole = 0.0
for name, learner in learners.items():
    start = time.perf_counter()
    for taught, _ in KFold(5, shuffle=True, random_state=1).split(train):
        learner.fit(train[taught], target[taught])
    learner.fit(train, target)
    built = time.perf_counter() - start
    whole += built
    start = time.perf_counter()
    said = numpy.exp(learner.predict(inputs[tested]))
    each = 1e6 * (time.perf_counter() - start) / tested.sum()
    mape = 100 * numpy.mean(numpy.abs(said / seconds[tested] - 1))
    print(f"{'Python: ' + name:44} {built:8.2f}s {mape:7.1f}% {each:11.1f} µs")
print(f"{'Python: all of them':44} {whole:8.2f}s")
