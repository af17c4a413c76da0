"""Sphinx's settings for the site of `make docs`, whose pages docs/site/stage.py gathers."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

project = "libsdd"
author = "the libsdd authors"
copyright = author
version = release = re.search(r'SDD_VERSION_STRING "(.*)"', (ROOT / "include/sdd/base.h").read_text())[1]
extensions = ["myst_parser", "sphinx.ext.graphviz"]

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
suppress_warnings = ["misc.highlighting_failure"]
graphviz_output_format = "svg"
graphviz_dot_args = ["-Gbgcolor=transparent", "-Gfontname=sans-serif", "-Nfontname=sans-serif", "-Efontname=sans-serif"]
highlight_language = "text"
pygments_style = "xcode"
default_role = None
smartquotes = False
primary_domain = "c"
c_id_attributes: list[str] = []
toc_object_entries = False

# Types of the standard headers, of the packages and of the annotations are no entries of the reference.
nitpick_ignore_regex = [
    (r"c:identifier", r"(u?int\d+_t|size_t|NULL|struct|noexcept)"),
    (r"py:.*", r".*"),
]

html_theme = "furo"
html_title = f"libsdd {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["search_order.js"]  # before Sphinx's own script, which takes its Scorer
html_copy_source = False
html_show_sphinx = False
html_permalinks_icon = "#"
html_last_updated_fmt = None
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {
        "color-brand-primary": "#0b62a4",
        "color-brand-content": "#0b62a4",
        "color-code-background": "#f2f4f7",
    },
    # All colours of Furo's dark side: the style sheet of Debian's package lacks them for readers whose system is dark.
    "dark_css_variables": {
        "color-brand-primary": "#5eb1ef",
        "color-brand-content": "#5eb1ef",
        "color-problematic": "#ee7171",
        "color-foreground-primary": "#ffffffcc",
        "color-foreground-secondary": "#9ca0a5",
        "color-foreground-muted": "#8f949b",
        "color-foreground-border": "#666666",
        "color-code-background": "#202224",
        "color-background-primary": "#131416",
        "color-background-secondary": "#1a1c1e",
        "color-background-hover": "#1e2124ff",
        "color-background-hover--transparent": "#1e212400",
        "color-background-border": "#303335",
        "color-background-item": "#444444",
        "color-highlighted-background": "#083563",
        "color-highlight-on-target": "#333300",
        "color-admonition-background": "#18181a",
        "color-card-background": "#18181a",
        "color-guilabel-background": "#08356380",
        "color-guilabel-border": "#13395f80",
    },
}


# Sphinx 5 adds them to each page for old themes. Nothing here uses them, and Debian's later releases lack them: the
# package of the site has links to the system's scripts.
OLD_SCRIPTS = {"jquery.js", "underscore.js", "_sphinx_javascript_frameworks_compat.js"}


def leave_out_old_scripts(app, page, template, context, tree):
    def name(script):
        return str(getattr(script, "filename", None) or script).rpartition("/")[2].partition("?")[0]

    context["script_files"] = [script for script in context["script_files"] if name(script) not in OLD_SCRIPTS]


def complete_theme(app, error):
    """Debian's package of Furo has parts that only a web server of that distribution completes: a script that imports
    another, and a style sheet that imports one from /javascript. A site in files needs them joined; where the theme is
    complete, this changes nothing."""
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for pattern in ("jquery*.js", "underscore*.js", "_sphinx_javascript_frameworks_compat.js"):
        for script in static.glob(pattern):
            script.unlink()
    script, part = static / "scripts" / "furo.js", static / "scripts" / "gumshoe-patched.js"
    importing = 'import Gumshoe from "./gumshoe-patched.js";\n'
    if script.exists() and importing in (text := script.read_text(encoding="utf-8")):
        script.write_text(part.read_text(encoding="utf-8") + text.replace(importing, ""), encoding="utf-8")
    style = static / "styles" / "furo.css"
    if style.exists():
        text = style.read_text(encoding="utf-8")
        style.write_text(re.sub(r"@import url\(/javascript/[^)]*\);", "", text), encoding="utf-8")


def setup(app):
    app.connect("html-page-context", leave_out_old_scripts)
    app.connect("build-finished", complete_theme)
