import arff as liac
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mltsk.datasets import category_values, read_arff, read_label_xml
from mltsk.datasets.arff import read_columns
from mltsk.exceptions import InputError

TOY = "@relation toy\n@attribute a numeric\n@attribute b {0,1}\n@data\n1,0\n2,1\n"
COLUMNS = {
    "size": "real",
    "colour": "{red, 'dark blue'}",
    "zone": "{1,2}",
    "flag": "{0,1}",
}


@pytest.fixture
def write(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "toy.arff"
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


@pytest.fixture
def read(write):
    """The values of some rows, which begin in line 7 if there are four columns."""

    def read(*rows, columns=COLUMNS):
        header = [f"@attribute {name} {kind}" for name, kind in columns.items()]
        return read_columns(
            write("\n".join(["@relation toy", *header, "@data", *rows]))
        )[0].X

    return read


def test_read_columns_of_a_small_file(write):
    data, declared = read_columns(write(TOY))
    assert (data.name, data.feature_names, data.categories) == (
        "toy",
        ("a", "b"),
        ((), ("0", "1")),
    )
    assert (data.shape, declared) == ((2, 2, 0), ())
    assert_array_equal(data.X, [[1, 0], [2, 1]])


@pytest.mark.parametrize(
    "text",
    [
        TOY.replace("\n", "\r\n"),
        TOY.upper(),
        "% a comment\n\n  " + TOY.replace("@data\n", "@data\n% another\n\n"),
        "\ufeff" + TOY,
        TOY.rstrip("\n"),
    ],
)
def test_read_columns_ignores_line_ends_capitals_and_comments(write, text):
    assert_array_equal(read_columns(write(text))[0].X, [[1, 0], [2, 1]])


def test_read_columns_of_old_files_in_latin_1(write):
    assert read_columns(write(TOY.replace(" a ", " größe "), "latin-1"))[
        0
    ].feature_names == ("größe", "b")


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("toy", ""),
        ("'toy: -C 2'", "ab"),
        ("'toy: -C -2 -split-percentage 50'", "cd"),
        ("'toy: -split 5 -C 1'", "a"),
        ("'toy: -C 0'", ""),
        ("'toy: -C 4'", ""),  # no feature would be left: not a usable declaration
        ("'toy: -C 99999999999'", ""),
    ],
)
def test_read_columns_finds_the_labels_of_mekas_option(write, relation, labels):
    header = "".join(f"@attribute {name} real\n" for name in "abcd")
    assert read_columns(write(f"@relation {relation}\n{header}@data\n1,2,3,4\n"))[
        1
    ] == tuple(labels)


@pytest.mark.parametrize(
    ("line", "name", "categories"),
    [
        ("@ATTRIBUTE\tsize\tREAL", "size", ()),
        ("@attribute 'two words' {0, 1}", "two words", ("0", "1")),
        (r"""@attribute 'it\'s' {'a,b',"c'd"}""", "it's", ("a,b", "c'd")),
        (
            r"@attribute x {'tab\there','back\\slash'}",
            "x",
            ("tab\there", "back\\slash"),
        ),
        ('@attribute "%odd" {a}', "%odd", ("a",)),
        ("@attribute glued{0,1}", "glued", ("0", "1")),
        ("@attribute Guitar_(clean)-Solo {0,1}", "Guitar_(clean)-Solo", ("0", "1")),
    ],
)
def test_read_columns_reads_attributes(write, line, name, categories):
    data, _ = read_columns(write(f"@relation toy\n{line}\n@data\n?\n"))
    assert (data.feature_names, data.categories) == ((name,), (categories,))


def test_read_columns_reads_every_kind_of_value_in_dense_rows(read):
    X = read("1.5,red,2,1", "?, 'dark blue' ,1, 0", "-1e-3,?,?,?")
    assert_array_equal(
        X, [[1.5, 0, 2, 1], [np.nan, 1, 1, 0], [-1e-3, np.nan, np.nan, np.nan]]
    )


def test_read_columns_takes_an_omitted_value_for_the_first_category(read):
    X = read("{0 1.5,1 'dark blue'}", "{}", "{ 3 1 , 2 2 }", "{0 ?,1 red}")
    assert X.format == "csr"
    # zone's first category is the number 1; a colour that is not given is red, the
    # number 0
    assert_array_equal(
        X.toarray(), [[1.5, 1, 1, 0], [0, 0, 1, 0], [0, 0, 2, 1], [np.nan, 0, 1, 0]]
    )


def test_read_columns_does_not_store_zeros(read):
    assert read("{0 0,1 1}", columns={"a": "real", "b": "real"}).nnz == 1


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("", 0, "ends before @data"),
        ("@relation x\n@attribute a real\n", 2, "ends before @data"),
        ("@data\n1", 1, "before any @attribute"),
        ("\x00\x01PNG", 1, "expected @relation"),
        ("@relation x\nhello\n", 2, "found 'hello'"),
        ("@relation x\n@attribute a string\n", 2, "'string'"),
        ("@relation x\n@attribute a date 'yyyy'\n", 2, "'date'"),
        ("@relation x\n@attribute a\n", 2, "'missing'"),
        ("@relation x\n@attribute\n", 2, "cannot read the attribute"),
        ("@relation x\n@attribute 'open real\n", 2, "cannot read the attribute"),
        ("@relation x\n@attributes a real\n", 2, "expected @relation"),
        ("@relation x\n@attribute a {}\n", 2, "only numeric"),
        ("@relation x\n@attribute a {0,1\n", 2, "only numeric"),
        ("@relation x\n@attribute a {0,0}\n", 2, "category twice"),
        ("@relation x\n@attribute a real\n@attribute a real\n", 3, "declared twice"),
        (TOY + "3\n", 7, "1 values for 2 attributes (is the file cut off?)"),
        (TOY + "\n\n3,0,1\n", 9, "3 values for 2"),
        (TOY + "3,2\n", 7, "'b' has no category '2'"),
        (TOY.split("1,0")[0], 4, "no row after @data"),
    ],
)
def test_read_arff_refuses_a_bad_file_with_its_line(write, text, line, complaint):
    path = write(text)
    with pytest.raises(InputError) as refused:
        read_arff(path)
    assert str(refused.value).startswith(f"{path}, line {line}: ")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1,red,1", "3 values for 4 attributes"),
        ("1,red,1,0,0", "5 values for 4 attributes"),
        ("1,pink,1,0", "'colour' has no category 'pink'"),
        ("big,red,1,0", "'size' is numeric and cannot be 'big'"),
        ("1_0,red,1,0", "'size' is numeric and cannot be '1_0'"),
        (",red,1,0", "'size' is numeric and cannot be ''"),
        ("'?',red,1,0", "cannot be '?'"),
        ("{0 1}", "cannot read"),
        ("1,red,1,0,{5}", "cannot read"),
        ("1,'open,1,0", "cannot read"),
        ("1,'red'x,1,0", "cannot read"),
        (r"1,'ends in \',1,0", "cannot read"),
        ("1,red\x00,1," + "x" * 10_000, "has no category 'red\\x00'"),
        ("1,red,1," + "x" * 10_000, "no category 'xxx"),
    ],
)
def test_read_columns_says_what_is_wrong_with_a_dense_row(read, line, complaint):
    with pytest.raises(InputError) as refused:
        read("1,red,1,0", line)
    assert ", line 8: " in str(refused.value)
    assert complaint in str(refused.value)
    assert len(str(refused.value).partition(", line ")[2]) < 100


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{0 1", "cut off"),
        ("1,red,1,0", "in braces"),
        ("{4 1}", "no attribute 4: the positions are 0 to 3"),
        ("{9999999999 1}", "cannot read"),
        ("{-1 1}", "no attribute -1"),
        ("{0 1 2}", "cannot read"),
        ("{0 1,}", "cannot read"),
        ("{0}", "cannot read"),
        ("{² 1}", "cannot read"),
        ("{0 'a}", "cannot read"),
        ("{1 pink}", "no category 'pink'"),
        ("{0 x}", "cannot be 'x'"),
        ("{0 1,0 2}", "'size' is given twice"),
    ],
)
def test_read_columns_says_what_is_wrong_with_a_sparse_row(read, line, complaint):
    with pytest.raises(InputError, match="line 8: ") as refused:
        read("{0 1}", line)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    "line", [" " * 500_000 + "'", "'" + "\\a" * 250_000, "a" * 500_000 + '"']
)
def test_read_columns_refuses_a_hostile_line_in_one_pass(read, line):
    # A search through all ways to match it would not end.
    with pytest.raises(InputError, match="cannot read"):
        read(line)


def test_read_columns_does_not_fill_a_large_matrix_for_a_small_file(read):
    with pytest.raises(InputError, match="too many"):
        read(*["{}"] * 4100, columns={f"a{j}": "{1,2}" for j in range(4100)})


@pytest.mark.parametrize("reader", [read_arff, read_label_xml])
def test_read_arff_and_read_label_xml_name_a_missing_file(tmp_path, reader):
    with pytest.raises(InputError, match="cannot be read: No such file or directory"):
        reader(tmp_path / "nowhere")


def test_read_columns_limits_the_length_of_a_line(read):
    with pytest.raises(InputError, match="line 7: the line is longer"):
        read("1" * (1 << 24))


# liac-arff does not quote braces in values, nor escape quotes in names: it cannot read
# them back either.
def texts(*, without):
    letters = st.characters(
        codec="utf-8", exclude_categories=("C", "Z"), exclude_characters=without
    )
    return st.text(letters, min_size=1, max_size=8)


NAMES = texts(without="{}'\"\\")
CATEGORIES = st.lists(
    texts(without="{}").filter(lambda text: text != "?"),
    min_size=1,
    max_size=4,
    unique=True,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.none()


@st.composite
def relations(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    kinds = [draw(st.just("REAL") | CATEGORIES) for _ in names]
    cells = [
        NUMBERS if kind == "REAL" else st.sampled_from([*kind, None]) for kind in kinds
    ]
    rows = draw(st.lists(st.tuples(*cells).map(list), min_size=1, max_size=5))
    attributes = list(zip(names, kinds, strict=True))
    return {"relation": "r", "attributes": attributes, "data": rows}


def decoded(table, row, column):
    value = table.X[row, column]
    if np.isnan(value):
        return None
    categories = table.categories[column]
    return (
        categories[category_values(categories).tolist().index(value)]
        if categories
        else value
    )


@settings(max_examples=80, deadline=None)
@given(relations())
def test_read_columns_reads_what_liac_arff_writes(tmp_path_factory, relation):
    path = tmp_path_factory.mktemp("arff") / "toy.arff"
    path.write_text(liac.dumps(relation), encoding="utf-8")
    table, _ = read_columns(path)
    assert table.feature_names == tuple(name for name, _ in relation["attributes"])
    read = [
        [decoded(table, i, j) for j in range(table.shape[1])] for i in range(len(table))
    ]
    assert read == relation["data"]


ANY_TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), max_size=8
)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT, st.lists(ANY_TEXT, min_size=1, max_size=4, unique=True))
def test_read_columns_reads_whatever_is_quoted(tmp_path_factory, name, categories):
    path = tmp_path_factory.mktemp("arff") / "toy.arff"
    kind = "{" + ",".join(map(quoted, categories)) + "}"
    rows = "\n".join(map(quoted, categories))
    path.write_text(
        f"@relation r\n@attribute {quoted(name)} {kind}\n@data\n{rows}\n",
        encoding="utf-8",
    )
    table, _ = read_columns(path)
    assert table.feature_names == (name,)
    assert [decoded(table, i, 0) for i in range(len(table))] == categories


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.integers(0, 5), st.floats(-9, 9)), min_size=1, max_size=6
    )
)
def test_read_columns_agrees_with_liac_arff_on_sparse_rows(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("arff") / "toy.arff"
    attributes = [(f"a{j}", "REAL") for j in range(6)]
    text = liac.dumps({"relation": "r", "attributes": attributes, "data": rows})
    path.write_text(text)
    oracle = liac.loads(text, return_type=liac.LOD)["data"]
    dense = [[row.get(j, 0.0) for j in range(6)] for row in oracle]
    assert_array_equal(read_columns(path)[0].X.toarray(), dense)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 200), st.binary(max_size=12), st.booleans())
def test_read_columns_reads_a_damaged_file_or_refuses_it(
    tmp_path_factory, at, noise, cut
):
    path = tmp_path_factory.mktemp("arff") / "toy.arff"
    whole = (TOY + "{0 1, 1 1}\n'3',1\n").encode()
    path.write_bytes(whole[:at] + noise + (b"" if cut else whole[at:]))
    sentence = ""
    n_rows = 0
    try:
        n_rows = len(read_columns(path)[0])
    except InputError as refused:
        sentence = str(refused)
    assert bool(sentence) != bool(n_rows)
    assert "\n" not in sentence


FOUR = """@attribute size real
@attribute colour {blue,red}
@attribute good {0,1}
@attribute cheap {0,1}
"""
ROWS = "@data\n1.5,blue,1,0\n2.5,red,0,0\n"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (2, ("good", "cheap")),
        ("2", ("good", "cheap")),
        (0, ()),
        ("cheap,good", ("cheap", "good")),
        (["cheap", "good", "cheap"], ("cheap", "good")),
        (("good",), ("good",)),
    ],
)
def test_read_arff_takes_labels_in_many_forms(write, labels, expected):
    assert (
        read_arff(write(f"@relation toy\n{FOUR}{ROWS}"), labels).label_names == expected
    )


def test_read_arff_takes_negative_numbers_and_quoted_names(
    write,
):
    path = write(
        "@relation toy\n@attribute 'a, b' {0,1}\n@attribute x real\n@data\n1,0.5\n"
    )
    assert (
        read_arff(path, -1).label_names
        == read_arff(path, '"a, b"').label_names
        == ("a, b",)
    )


def test_read_arff_uses_declared_labels_unless_others_are_given(write):
    path = write(f"@relation 'toy: -C -1'\n{FOUR}{ROWS}")
    assert read_arff(path).label_names == ("cheap",)
    assert read_arff(path, 2).label_names == ("good", "cheap")
    with pytest.raises(
        InputError, match="does not say which of its 4 columns are labels"
    ):
        read_arff(write(f"@relation toy\n{FOUR}{ROWS}"))


def test_read_arff_keeps_the_order_of_features(write):
    data = read_arff(write(f"@relation toy\n{FOUR}{ROWS}"), "cheap,good")
    assert (data.feature_names, data.label_names) == (
        ("size", "colour"),
        ("cheap", "good"),
    )
    assert data.categories == ((), ("blue", "red"))
    assert_array_equal(data.Y, [[0, 1], [0, 0]])
    assert data.X.flags.c_contiguous


def with_label(kind, cells):
    rows = "".join(f"0,{cell}\n" for cell in cells)
    return f"@relation toy\n@attribute x real\n@attribute 'is it' {kind}\n@data\n{rows}"


@pytest.mark.parametrize(
    ("kind", "cells", "expected"),
    [
        ("real", "010", [0, 1, 0]),
        ("real", "111", [1, 1, 1]),
        ("{no,YES}", ["no", "YES", "no"], [0, 1, 0]),
        ("{True,False}", ["True", "False", "True"], [1, 0, 1]),
        ("{1,0}", "101", [1, 0, 1]),
        ("{n,y}", "nnn", [0, 0, 0]),
    ],
)
def test_read_arff_knows_what_counts_as_a_label(write, kind, cells, expected):
    assert read_arff(write(with_label(kind, cells)), 1).Y[:, 0].tolist() == expected


@pytest.mark.parametrize(
    ("kind", "cells", "complaint"),
    [
        ("real", "012", "holds '0', '1', '2'"),
        ("real", ["-1", "0", "1"], "holds '-1', '0', '1'"),
        ("{-1,1}", ["-1", "1", "1"], "holds '-1', '1'"),
        ("{cat,dog}", ["cat", "dog", "cat"], "holds 'cat', 'dog'"),
        ("{1,1.0}", ["1", "1.0", "1"], "holds '1', '1.0'"),
        ("real", "1?0", "has no value in row 2"),
        ("real", ["0.5", "0.5", "1"], "holds '0.5', '1'"),
    ],
)
def test_read_arff_refuses_what_does_not_count_as_a_label(
    write, kind, cells, complaint
):
    with pytest.raises(InputError) as refused:
        read_arff(write(with_label(kind, cells)), 1)
    assert str(refused.value).startswith("Label 'is it' of toy")
    assert complaint in str(refused.value)


@pytest.mark.parametrize("labels", [2, -2, 100])
def test_read_arff_refuses_labels_that_leave_no_feature(write, labels):
    with pytest.raises(
        InputError, match=f"toy has 2 columns: {abs(labels)} labels leave no feature"
    ):
        read_arff(write(TOY), labels)


def test_read_arff_names_the_column_nearest_to_a_missing_one(write):
    with pytest.raises(InputError) as refused:
        read_arff(write(f"@relation toy\n{FOUR}{ROWS}"), "chaep")
    assert "toy has no column 'chaep' (it has 4 columns); did you mean 'cheap'?" in str(
        refused.value
    )


def test_read_arff_keeps_sparse_files_sparse(write):
    data = read_arff(
        write(f"@relation toy\n{FOUR}@data\n{{0 1.5, 2 1}}\n{{0 2.5, 1 red}}\n"), 2
    )
    assert data.is_sparse
    assert_array_equal(data.X.toarray(), [[1.5, 0], [2.5, 1]])
    assert_array_equal(data.Y, [[1, 0], [0, 0]])


HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
LAUGHS = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
BOMB = (
    f'<!DOCTYPE labels [<!ENTITY l0 "lol">{LAUGHS}]>\n'
    '<labels><label name="&l9;"/></labels>'
)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (
            '<labels xmlns="http://mulan.sourceforge.net/labels">'
            '<label name="ü"></label></labels>',
            ("ü",),
        ),
        (
            '<labels><label name="a b"><label name="c"/></label>'
            '<label name="d"/></labels>',
            ("a b", "c", "d"),
        ),
        ('<labels><label name="a &amp; b"/></labels>', ("a & b",)),
    ],
)
def test_read_label_xml_of_mulan_files(write, text, labels):
    assert read_label_xml(write(HEAD + text)) == labels


@pytest.mark.parametrize(
    "text",
    [
        HEAD + BOMB,
        BOMB.encode("utf-16"),
        '<!DOCTYPE labels SYSTEM "file:///etc/passwd">'
        '<labels><label name="x"/></labels>',
        '<!DOCTYPE labels><labels><label name="x"/></labels>',
    ],
)
def test_read_label_xml_refuses_document_types_and_entities(write, text):
    with pytest.raises(
        InputError, match=r"line \d: document types and entities are not read"
    ):
        read_label_xml(write(text))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: no element found"),
        ("<labels>\n<label", "line 2: unclosed token"),
        ("<labels></labels>", "lists no label"),
        ("@relation x", "line 1: not well-formed"),
        *(
            (f'<?xml version="1.0" encoding="{code}"?><labels/>', "cannot be read")
            for code in ("gbk", "utf-7", "idna")
        ),
        *(
            (f'<?xml version="1.0" encoding="{code}"?><labels/>', "cannot be read")
            for code in ("hex", "punycode")
        ),
    ],
)
def test_read_label_xml_refuses_files_that_list_no_labels(write, text, complaint):
    with pytest.raises(InputError, match=complaint):
        read_label_xml(write(text))
