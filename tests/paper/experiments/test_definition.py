"""Definitions of experiments: what is filled in, and sentences about what is wrong."""

import re

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments import published as paper
from mltsk.paper.experiments.definition import (
    MethodDefinition,
    class_of,
    grid_of,
    known_methods,
    pick_datasets,
    pick_methods,
    read_definition,
    section_iv,
)
from mltsk.paper.experiments.published import table_i
from mltsk.paper.experiments.reproduce import n_settings, reproduce
from mltsk.paper.methods import METHODS


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return path


def test_section_iv_has_the_papers_data_and_methods():
    definition = section_iv()
    assert {data.name for data in definition.datasets} == set(table_i())
    of_paper = [method for method in definition.methods if method.paper]
    assert {method.paper for method in of_paper} == set(paper.PAPER_METHODS)
    for method in of_paper:
        assert class_of(method) is METHODS[method.key]


def test_grid_of_paper_has_the_papers_size():
    sizes = {m.key: n_settings(grid_of(m, "paper")) for m in section_iv().methods}
    assert sizes == {
        "ml-knn": 35,
        "hnoml": 125,
        "mlsf": 81,
        "cc": 48,
        "br": 48,
        "c2ae": 11,
        "bp-mll": 10,
        "jbnn": 10,
        "ml-tsk-fs": 4000,
        "mltsk": 1,
    }


def test_grid_of_fast_is_a_subset_of_the_papers():
    for method in section_iv().methods:
        fast = grid_of(method, "fast")
        full = grid_of(method, "paper")
        assert fast.keys() == full.keys()
        for name, values in fast.items():
            assert set(values) <= set(full[name])


def test_grid_of_authors_has_a_thousand_settings():
    method = next(m for m in section_iv().methods if m.key == "ml-tsk-fs")
    assert n_settings(grid_of(method, "authors")) == 1000


def test_known_methods_have_variants_that_are_left_out_unless_named(tmp_path):
    variants = {method.key: method for method in known_methods() if method.variant_of}
    methods = {method.key: method for method in section_iv().methods}
    assert variants
    for key, variant in variants.items():
        class_of(variant)(**variant.params)._validate_params()
        assert key not in methods
        assert class_of(variant) is class_of(methods[variant.variant_of])
        assert variant.paper is None
    named = read_definition(written(tmp_path, '[[methods]]\nkey = "c2ae-published"'))
    assert named.methods == [variants["c2ae-published"]]


def test_read_definition_knows_methods_by_key_and_files_beside_it(tmp_path):
    data = '[[datasets]]\nname = "a"\nfile = "a.csv"\nlabels = 2'
    path = written(tmp_path, f'[[methods]]\nkey = "br"\n{data}')
    definition = read_definition(path)
    assert definition.methods[0].path == "mltsk.paper.methods:BinaryRelevanceTSK"
    assert definition.datasets[0].file == str(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "folds = 1",
            r"mine\.toml: the field `folds` is wrong: .*greater than or equal to 2",
        ),
        ('protocol = "paper"', r"the field `protocol` is not known"),
        (
            'protocols = ["papre"]',
            r"the field `protocols\[0\]` is wrong: .*'paper', 'strict' or 'nested'",
        ),
        ('[[methods]]\nkey = "mine"', r"the field `methods\[0\].class` is missing"),
        (
            '[[methods]]\nkey = "br"\n[[methods]]\nkey = "br"',
            "the method 'br' is there twice",
        ),
        (
            '[[datasets]]\nname = "yeast"\nlabels = 3',
            "labels are for a file of one's own",
        ),
        (
            '[[methods]]\nkey = "br"\ngrids = { fast = { C = [] } }',
            r"`methods\[0\].grids.fast.C` is wrong: .*at least 1",
        ),
        ("folds = ", "is no TOML file"),
        ("x = " + "[" * 3000 + "]" * 3000, "is no TOML file"),
        ("x = " + "1" * 5000, "is no TOML file"),
        ("[[methods]]\nkey = []", r"the field `methods\[0\].key` is wrong"),
        (
            '[[datasets]]\nname = "a"\nfile = 3',
            r"the field `datasets\[0\].file` is wrong",
        ),
    ],
)
def test_read_definition_names_the_field_that_is_wrong_in_one_sentence(
    tmp_path, text, complaint
):
    with pytest.raises(InputError, match=complaint) as caught:
        read_definition(written(tmp_path, text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        "os:system",
        "subprocess:Popen",
        "sklearn.datasets:load_iris",
        "sklearn.preprocessing:FunctionTransformer",
    ],
)
def test_class_of_takes_classifiers_alone_and_nothing_else_is_called(tmp_path, path):
    method = f'key = "x"\nclass = "{path}"\nparams = {{ command = "true" }}'
    text = f'[[datasets]]\nname = "flags"\n[[methods]]\n{method}'
    definition = read_definition(written(tmp_path, text))
    with pytest.raises(InputError, match="classifiers alone may be named"):
        reproduce(definition, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_class_of_an_import_path_that_leads_nowhere_is_one_sentence():
    content = {"key": "x", "class": "sklearn.nowhere:Thing"}
    method = MethodDefinition.model_validate(content)
    complaint = r"'x' cannot be imported from 'sklearn.nowhere:Thing'"
    with pytest.raises(InputError, match=complaint):
        class_of(method)


def test_pick_datasets_refuses_an_unknown_name_with_those_that_are_known(small):
    complaint = (
        r"no data set 'yaest': take toy, or a file by its path \(\./yaest\.csv\)"
    )
    with pytest.raises(InputError, match=complaint):
        pick_datasets(small(), ["yaest"])


@pytest.mark.parametrize(
    "name", ["knn", ".tree.Classifier", "a..b.C", "sk learn.tree.C"]
)
def test_pick_methods_refuses_an_unknown_name_with_those_that_are_known(small, name):
    complaint = rf"no method '{re.escape(name)}': take ml-knn, .*import path"
    with pytest.raises(InputError, match=complaint):
        pick_methods(small(), [name])


def test_pick_methods_takes_an_import_path_with_points_alone(small):
    (method,) = pick_methods(small(), ["sklearn.dummy.DummyClassifier"])
    assert method.path == "sklearn.dummy:DummyClassifier"


def test_pick_datasets_names_a_file_of_any_name_by_a_printable_word():
    (data,) = pick_datasets(section_iv(), ["some/a\tb \x1b[2J.csv"])
    assert data.name == "a_b__[2J"
    assert data.file == "some/a\tb \x1b[2J.csv"
