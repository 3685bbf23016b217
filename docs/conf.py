"""How the documentation is built: offline, from the package in this checkout.

Every example of the gallery runs.

``make docs`` writes out/docs/html. A warning is an error there.
"""

import runpy
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import matplotlib as mpl
from docutils import nodes
from sphinx.util.nodes import make_refnode
from sphinx_gallery.scrapers import figure_rst

import mltsk

mpl.use("agg")
HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"

project = "mltsk"
author = copyright = "The mltsk developers"
version = release = mltsk.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["results", "section_iv.toml", "gallery/*.ipynb", "gallery/*.json"]
templates_path = ["_templates"]
# `name` in a docstring is a link where the name can be imported from there.
default_role = "autolink"
nitpicky = True
nitpick_ignore = [
    ("py:class", "numpy.float32")
]  # an attribute that is a type: "alias of numpy.float32"
smartquotes = False  # "auto" is what one types
toc_object_entries_show_parents = "hide"
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]

# Members are listed by _templates/autosummary/class.rst: numpydoc's own list would
# repeat scikit-learn's methods, whose descriptions refer to pages that this site does
# not have.
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = (
    "none"  # types are in the descriptions of parameters, as numpydoc has them
)
autosummary_generate = True
INHERITED = ["get_metadata_routing", "set_output", "model_config"]
INHERITED += [
    f"set_{method}_request"
    for method in ("fit", "partial_fit", "predict", "score", "split", "transform")
]
autodoc_default_options = {"exclude-members": ", ".join(INHERITED)}


def _figures_of_the_package(block, block_vars, gallery_conf):
    """Show the variable ``figure`` of an example.

    The figures of `mltsk.explain.plot` are not pyplot's.
    """
    figure = block_vars["example_globals"].pop("figure", None)
    if figure is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=130)
    return figure_rst([path], gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "thumbnail_size": (400, 280),
    "image_scrapers": ("matplotlib", _figures_of_the_package),
}
suppress_warnings = [
    "config.cache"
]  # of the function above: it cannot be pickled, and need not be
# What the tests hold the package to holds for the examples too.
warnings.filterwarnings("error", module=r"mltsk(\.|$)")

html_theme = "pydata_sphinx_theme"
html_title = "mltsk"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "tour": []}
html_theme_options = {
    "logo": {"text": "mltsk"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}


def write_live_explorer(app, error):
    """Put an explorer of the patients example beside the pages, for the start page."""
    if error is None and app.builder.format == "html":
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")  # `plt.show` without a screen
            example = runpy.run_path(str(EXAMPLES / "plot_1_patients.py"))
        page = Path(app.outdir) / "explorer.html"
        mltsk.explore(
            example["clf"], page, example["X"], example["Y"], title="Invented patients"
        )


def link_or_plain(app, env, node, content):
    """Link a name that Sphinx does not find from there to its only page, or leave it.

    `autolink` makes references of names that exist and of no others, so none of them
    can be misspelt.
    """
    if node["refdomain"] != "py" or node["reftype"] != "obj":
        return None
    domain, name = env.domains.python_domain, node["reftarget"].rsplit(".", 1)[-1]
    pages = [
        (full, entry)
        for full, entry in domain.objects.items()
        if full.rsplit(".", 1)[-1] == name
    ]
    if len(pages) != 1:
        return nodes.literal("", content.astext())
    (full, entry) = pages[0]
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, content, full
    )


def keep_bars(app, what, name, obj, options, lines):
    """Escape the bars of absolute values outside literal text.

    reStructuredText takes them for substitutions.
    """
    literal = False
    for i, line in enumerate(lines):
        literal = (
            literal and (not line.strip() or line.startswith(" "))
        ) or line.endswith("::")
        if not literal and "``" not in line and ">>>" not in line:
            lines[i] = line.replace("|", r"\|")


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", keep_bars, priority=400)  # before numpydoc
    app.connect("missing-reference", link_or_plain)
    app.connect("build-finished", write_live_explorer)
