import numpy as np
import pytest

from mltsk.explain import Shape
from mltsk.explain.shapes import course, course_of_values, line_unit

X21 = np.linspace(0.0, 20.0, 21)


def test_course_of_a_rising_curve_is_told_by_where_it_passes_its_average():
    assert course(X21, X21 / 10 - 1) == ("rises", 10.0, 2.0, (20, 0))
    assert course(X21, 1 - X21 / 10) == ("falls", 10.0, -2.0, (20, 0))


def test_course_of_a_curve_that_goes_back_a_little_has_no_peak():
    y = np.concatenate([np.linspace(-1, 1, 17), np.full(4, 0.8)])
    curve = course(X21, y)
    assert (curve.kind, curve.change) == ("rises", pytest.approx(1.8))


@pytest.mark.parametrize(("sign", "kind"), [(1, "peaks"), (-1, "dips")])
def test_course_of_a_curve_that_turns_is_told_by_where(sign, kind):
    curve = course(X21, -sign * (X21 - 8) ** 2 / 100)
    assert curve[:3] == (kind, 8.0, pytest.approx(sign * 1.44))


def test_course_of_values_goes_from_the_least_to_the_largest():
    curve = course_of_values(np.array([0.1, -0.3, 0.2]))
    assert (curve.kind, curve.ends) == ("varies", (2, 1))
    assert curve.change == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("span", "unit"), [(52.0, 10.0), (20.0, 10.0), (19.0, 1.0), (2.6, 1.0), (0.3, 0.1)]
)
def test_line_unit_is_a_power_of_ten_that_fits_twice_or_more(span, unit):
    x = 3.0 + span * np.linspace(0, 1, 9) ** 2
    assert line_unit(x, 0.2 - 0.01 * x) == pytest.approx(unit)


def test_line_unit_is_none_where_a_curve_bends_or_is_flat():
    bent = np.minimum(X21, 15.0)
    assert line_unit(X21, bent) is None
    assert line_unit(X21, X21 + 0.3 * np.sin(X21)) == 10.0
    assert line_unit(X21, np.zeros(21)) is None
    assert line_unit(np.zeros(21), X21) is None


def test_line_unit_of_extreme_values_is_finite():
    x = np.array([-1.7e308, 0.0, 1.7e308])
    assert line_unit(x, np.array([-1.0, 0.0, 1.0])) == 1e308


def shape(change=0.21, **known):
    defaults = {
        "kind": "rises" if change > 0 else "falls",
        "at": 3.4,
        "percentile": 0.7,
    }
    return Shape(
        label="gout", feature="oil", change=change, size=0.1, **(defaults | known)
    )


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (
            {"per": 10.0, "x": (26.0, 50.0, 78.0), "y": (-0.1, 0.02, 0.16)},
            "more likely with higher oil (+0.050 per 10, from 26 to 78)",
        ),
        (
            {"per": 1.0, "x": (2.0, 4.5), "y": (0.3, 0.0), "change": -0.24},
            "less likely with higher oil (-0.12 per 1, from 2 to 4.5)",
        ),
        (
            {"per": 1.0, "x": (0.0, 4.0), "y": (0.0, 0.4), "change": 0.2, "error": 0.1},
            "more likely with higher oil (+0.10 ± 0.050 per 1, from 0 to 4)",
        ),
        (
            {"x": (0.3, 28.0), "y": (-0.1, 0.5)},
            "more likely with high oil (above about 3.4, +0.21; +0.60 from 0.3 to 28)",
        ),
        (
            {"x": (0.3, 28.0), "y": (-0.5, 0.1), "percentile": 0.1},
            "less likely with very low oil (below about 3.4, -0.21; "
            "-0.60 from 28 down to 0.3)",
        ),
        ({}, "more likely with high oil (above about 3.4, +0.21)"),
        (
            {"percentile": 0.5, "change": -0.21},
            "less likely with high oil (above about 3.4, -0.21)",
        ),
        (
            {"percentile": 0.9},
            "more likely with very high oil (above about 3.4, +0.21)",
        ),
        ({"percentile": 0.3}, "less likely with low oil (below about 3.4, -0.21)"),
        (
            {"percentile": 0.1, "change": -0.2},
            "more likely with very low oil (below about 3.4, +0.20)",
        ),
        (
            {"kind": "peaks", "percentile": 0.5},
            "more likely with medium oil (around 3.4, +0.21)",
        ),
        (
            {"kind": "dips", "change": -0.2, "percentile": 0.3},
            "less likely with low oil (around 3.4, -0.20)",
        ),
        ({"at": None, "percentile": None}, "more likely with oil (+0.21)"),
        (
            {"error": 0.051},
            "more likely with high oil (above about 3.4, +0.21 ± 0.051)",
        ),
        ({"names": ("no", "yes")}, "more likely where oil is yes (+0.21)"),
        (
            {"names": ("I", "II", "III", "IV"), "y": (-0.2, -0.05, 0.05, 0.2)},
            "more likely with higher oil (from III on, +0.21)",
        ),
        (
            {
                "kind": "not measured",
                "names": ("measured", "not measured"),
                "y": (-0.02, 0.08),
            },
            "oil not measured: +0.080; measured -0.020",
        ),
    ],
)
def test_a_shape_is_told_by_direction_and_place(known, words):
    assert str(shape(**known)) == words


@pytest.mark.parametrize(
    ("names", "y", "words"),
    [
        ("abc", (0.1, -0.2, 0.0), "oil = a: +0.10; c +0.0; b -0.20"),
        ("abcd", (-0.1, 0.3, -0.1, -0.1), "oil = b: +0.30; any other -0.10"),
        ("abc", (0.1, 0.1, -0.3), "oil = c: -0.30; any other +0.10"),
        (
            "abcdefghij",
            tuple(range(10)),
            "oil = j: +9.0; i +8.0; h +7.0; g +6.0; 2 between +4.5; "
            "d +3.0; c +2.0; b +1.0; a +0.0",
        ),
    ],
)
def test_a_shape_of_values_without_an_order_tells_them_one_by_one(names, y, words):
    assert str(shape(kind="varies", names=tuple(names), y=y)) == words


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (
            {
                "kind": "varies",
                "names": ("f", "m"),
                "y": (0.0, -0.13),
                "chosen": (2, 5),
            },
            "less likely where oil is m (-0.13, 2 of 5)",
        ),
        (
            {"x": (1.2, 4.0), "y": (0.0, 0.215), "error": 0.1, "chosen": (4, 5)},
            "more likely with high oil (from 1.2 to 4, +0.215 ± 0.10, 4 of 5)",
        ),
        (
            {"x": (1.2, 4.0), "y": (0.0, 2.4), "chosen": (15, 16), "average": 0.08},
            "more likely with high oil (from 1.2 to 4, +2.40, 15 of 16; "
            "not measured +0.08)",
        ),
        (
            {"x": (2.0, 12.0), "y": (0.0, 1.31), "per": 1.0, "average": -0.5},
            "more likely with higher oil (+0.131 per 1, from 2 to 12; "
            "not measured -0.50)",
        ),
        (
            {"names": ("I", "II", "III"), "y": (0.0, 0.1, 0.2), "change": 0.2},
            "more likely with higher oil (from I over II to III in equal steps, +0.20)",
        ),
        (
            {"kind": "varies", "names": tuple("abcde"), "y": (0.1, 0.1, 0, 0, -0.2)},
            "oil = a: +0.10; b +0.10; e -0.20; any other 0",
        ),
        (
            {"x": (1.2, 4.0), "y": (-0.2, 0.0), "percentile": 0.1},
            "less likely with very low oil (from 4 to 1.2, -0.20)",
        ),
        (
            {"x": (1.0, 2.0, 1500.0), "y": (-0.2, 0.0, 0.1), "error": 0.1},
            "oil up to 1: -0.20; at 2: 0; from 1,500: +0.10 (± 0.10)",
        ),
        (
            {"x": (1.2,), "y": (0.1,)},
            "more likely with high oil (from 1.2 to 1.2, +0.10)",
        ),
    ],
)
def test_a_shape_of_a_short_model_is_told_point_by_point(known, words):
    assert str(shape(exact=True, **known)) == words


def test_values_of_a_shape_are_those_with_names():
    named = shape(kind="varies", names=("a", "b"), y=(0.1, -0.1))
    assert named.values == {"a": 0.1, "b": -0.1}
    assert shape().values is None
