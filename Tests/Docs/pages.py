#!/usr/bin/env python3
"""Opens each page of the site in a headless Chromium, as wide as a phone and as a desk, in light and in dark. Fails for
a page that is wider than the window, an error on the console, a picture or link that leads nowhere, text that can
hardly be read on its background, code without a ground of its own, output that looks like code, a diagram that stays
black in the dark, a line of code in a guide that a desk does not show whole, a page that nothing leads to, two entries
of the sidebar that say the same, and a search that does not find, or that has a decision before a guide.

    Tests/Docs/pages.py FOLDER [--shots DIR]      FOLDER is that of `make docs`; --shots takes pictures of some
    Tests/Docs/pages.py --test                    checks that broken pages fail
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

WIDTHS = {"phone": (390, 844), "desktop": (1280, 900)}
LIMIT = 60
# furo in Debian 13 lacks a part of its own, which marks the section in view, and in sid a sheet that another one names.
THEMES_OWN = ("Gumshoe is not a constructor", "/~normalize.css")
SEARCHES = {"sdd_loader_submit": "reference/loader.html", "Retry-After": "", "untrusted": "guides/untrusted-urls.html"}
ORDERED = ["memory", "progress", "priority", "timeout"]  # searches whose results are put in order
SHOTS = [
    "index.html",
    "guides/event-loops.html",
    "guides/sizes.html",
    "reference/request.html",
    "reference/index.html",
    "reference/python.html",
    "benchmarks.html",
    "guides/from-libcurl-stb.html",
    "design.html",
]

# A script that runs in each page. It gives the elements that stick out, and the pictures, links and anchors.
EXAMINE = """
const width = document.documentElement.clientWidth, wide = [];
const scrolls = element => { for (; element; element = element.parentElement) {
    const style = getComputedStyle(element);
    const isPage = element === document.body || element === document.documentElement;
    if (style.overflowX !== 'visible' && !isPage) return true;
    if (style.position === 'fixed') return true;  /* the drawers of the theme */
} return false; };
if (document.documentElement.scrollWidth > width)
    for (const element of document.body.querySelectorAll('*'))
        if (element.getBoundingClientRect().right > width + 1 && !scrolls(element))
            wide.push(element.tagName + '.' + element.className + ': ' + element.textContent.trim().slice(0, 60));
const pictures = [...document.images].filter(image => !image.complete || image.naturalWidth === 0).map(image => image.src);
const nameless = [...document.images].filter(image => !image.alt).map(image => image.src);
return { over: document.documentElement.scrollWidth - width, wide: wide.slice(0, 3), pictures, nameless,
         objects: [...document.querySelectorAll('object')].map(object => object.data),
         links: [...document.links].map(link => link.href),
         anchors: [...document.querySelectorAll('[id]')].map(element => element.id), title: document.title };
"""

# The contrast of texts and their background, by WCAG 2: 4.5 is its rule, and below 3 a text can hardly be read.
CONTRAST = """
const parts = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
const light = ([r, g, b]) => {
    const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
const behind = element => { for (; element; element = element.parentElement) {
    const c = parts(getComputedStyle(element).backgroundColor); if (c.length && (c.length < 4 || c[3] > 0.5)) return c; }
    return [255, 255, 255]; };
const poor = [];
const texts = ['p', 'li', 'td', 'th', 'dt', 'code', 'h1', 'h2', 'pre span'].map(name => 'article ' + name).join(', ');
for (const element of document.querySelectorAll(texts)) {
    if (!element.textContent.trim() || element.getClientRects().length === 0) continue;
    const a = light(parts(getComputedStyle(element).color)), b = light(behind(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 2.8) poor.push(element.tagName + ': ' + element.textContent.trim().slice(0, 40) + ' ' + ratio.toFixed(1));
}
return poor.slice(0, 3);
"""

# Code stands on a ground of its own, what programs print does not, and diagrams are turned into light lines in the dark.
LOOK = """
const [isDark, isGuide] = arguments, wrong = [];
const ground = getComputedStyle(document.querySelector('.content') || document.body).backgroundColor;
const clear = colour => /^(transparent|rgba\\(.*, 0\\))$/.test(colour);
const page = clear(ground) ? getComputedStyle(document.body).backgroundColor : ground;
for (const block of document.querySelectorAll('article .highlight')) {
    const colour = getComputedStyle(block).backgroundColor, isCode = !block.closest('.sdd-output');
    const text = block.textContent.trim().slice(0, 40), pre = block.querySelector('pre');
    if (isCode && (clear(colour) || colour === page)) wrong.push('code without a ground: ' + text);
    if (!isCode && !clear(colour)) wrong.push('output that looks like code: ' + text);
    if (isGuide && pre && pre.scrollWidth > pre.clientWidth + 1) wrong.push('a line is too long: ' + text);
}
for (const diagram of document.querySelectorAll('.graphviz object'))
    if ((getComputedStyle(diagram).filter !== 'none') !== isDark) wrong.push('a diagram in the wrong colours');
return wrong.slice(0, 3);
"""

# Entries of the sidebar: the same text twice, or one that only says more than another.
DOUBLES = """
const texts = [...document.querySelectorAll('.sidebar-tree a.reference')].map(link => link.textContent.trim());
return texts.filter((text, at) => texts.some((other, place) => place !== at && (text + ' ').startsWith(other + ' ')));
"""


class Browser:
    def __init__(self) -> None:
        options = Options()
        for word in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--allow-file-access-from-files",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(LIMIT)

    def window(self, width: int, height: int) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def scheme(self, name: str) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]}
        )

    def open(self, page: Path, query: str = "") -> None:
        self.driver.get(page.as_uri() + query)

    def console(self) -> list[str]:
        messages = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return [message for message in messages if not any(own in message for own in THEMES_OWN)]

    def shot(self, path: Path) -> None:
        self.driver.save_screenshot(str(path))


class Checker:
    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser, self.folder = browser, folder.resolve()
        self.pages = sorted(page for page in self.folder.rglob("*.html") if "_static" not in page.parts)
        self.faults: list[str] = []
        self.links: dict[Path, list[str]] = {}
        self.anchors: dict[Path, set[str]] = {}

    def fault(self, page: Path, what: str) -> None:
        self.faults.append(f"{page.relative_to(self.folder)}: {what}")

    def examine(self, page: Path, name: str) -> None:
        found = self.browser.driver.execute_script(EXAMINE)
        if found["over"] > 0:
            self.fault(page, f"{name}: {found['over']} pixels wider than the window: {found['wide']}")
        for picture in found["pictures"]:
            self.fault(page, f"{name}: no picture {picture}")
        for picture in found["nameless"]:
            self.fault(page, f"a picture without a text: {picture}")
        for message in self.browser.console():
            self.fault(page, f"{name}: console: {message}")
        if not found["title"]:
            self.fault(page, "no title")
        self.links[page] = found["links"] + found["objects"]
        self.anchors[page] = set(found["anchors"])

    def check_pages(self) -> None:
        for name, size in WIDTHS.items():
            self.browser.window(*size)
            for scheme in ("light", "dark"):
                self.browser.scheme(scheme)
                for page in self.pages:
                    if scheme == "dark" and name == "phone":
                        continue  # colours are the same at every width
                    self.browser.open(page)
                    self.examine(page, f"{name}, {scheme}")
                    if name == "desktop":
                        for text in self.browser.driver.execute_script(CONTRAST):
                            self.fault(page, f"{scheme}: hardly legible: {text}")
                        is_guide = page.parent.name == "guides"
                        for text in self.browser.driver.execute_script(LOOK, scheme == "dark", is_guide):
                            self.fault(page, f"{scheme}: {text}")
                        if page == self.folder / "index.html":
                            for text in self.browser.driver.execute_script(DOUBLES):
                                self.fault(page, f"the sidebar says it twice: {text}")

    def check_links(self) -> None:
        reached = {self.folder / "index.html"}
        for page, links in self.links.items():
            for link in links:
                address, anchor = urldefrag(link)
                if not address.startswith("file:"):
                    continue
                target = Path(unquote(urlparse(address).path))
                reached.add(target)
                if not target.is_file():
                    self.fault(page, f"{link} leads nowhere")
                elif anchor and target in self.anchors and unquote(anchor) not in self.anchors[target]:
                    self.fault(page, f"{link} has no such anchor")
        special = {"search.html", "genindex.html", "py-modindex.html"}
        for page in self.pages:
            if page not in reached and page.name not in special:
                self.fault(page, "no page leads here")

    def search(self, words: str) -> list[str]:
        self.browser.open(self.folder / "search.html", f"?q={words}")
        WebDriverWait(self.browser.driver, LIMIT).until(
            lambda driver: driver.execute_script(
                "return document.querySelectorAll('#search-results .search-summary').length > 0 && "
                "!/Searching/.test(document.querySelector('#search-results').textContent)"
            )
        )
        return self.browser.driver.execute_script(
            "return [...document.querySelectorAll('#search-results li a')].map(link => link.href)"
        )

    def check_search(self) -> None:
        page = self.folder / "search.html"
        for words, expected in SEARCHES.items():
            links = self.search(words)
            if not links or (expected and not any(expected in link for link in links)):
                self.fault(page, f"a search for {words} does not find {expected or 'anything'}: {links[:3]}")
        for words in ORDERED:
            links = self.search(words)
            guides = [at for at, link in enumerate(links) if "/guides/" in link]
            decisions = [at for at, link in enumerate(links) if "/decisions/" in link]
            if not guides or (decisions and guides[0] > decisions[0]):
                self.fault(page, f"a search for {words} has no guide before the first decision: {links[:3]}")

    def take_shots(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, size in WIDTHS.items():
            self.browser.window(*size)
            for scheme in ("light", "dark"):
                self.browser.scheme(scheme)
                for page in SHOTS:
                    if (self.folder / page).exists():
                        self.browser.open(self.folder / page)
                        self.browser.shot(folder / f"{page.replace('/', '-')[:-5]}-{name}-{scheme}.png")


BROKEN = {
    "a wide page": "<p style='width: 2000px'>wide</p>",
    "an error of a script": "<script>none.none()</script>",
    "a picture": "<img src='none.png' alt='none'>",
    "a picture without a text": "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>",
    "a link": "<a href='none.html'>none</a>",
    "an anchor": "<a href='index.html#none'>none</a>",
    "code without a ground": "<article><div class='highlight' style='background: none'><pre>code</pre></div></article>",
    "the sidebar": "<div class=sidebar-tree><a class=reference>A</a><a class=reference>A page</a></div>",
    "a contrast": "<article><p style='color: #eee; background: #fff'>pale</p></article>",
}


def test_broken(browser: Browser) -> None:
    for name, text in [("", "<p>good</p>"), *BROKEN.items()]:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "index.html").write_text(
                f"<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><title>t</title><body>{text}"
            )
            checker = Checker(browser, Path(folder))
            checker.check_pages()
            checker.check_links()
        if bool(checker.faults) != bool(name):
            sys.exit(f"pages.py: {name or 'a good page'}: {checker.faults}")
        print(f"ok broken: {name or 'a good page is none'}")


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    browser = Browser()
    try:
        test_broken(browser)
        if sys.argv[1] == "--test":
            return
        checker = Checker(browser, Path(sys.argv[1]))
        if "--shots" in sys.argv:
            checker.take_shots(Path(sys.argv[sys.argv.index("--shots") + 1]))
        checker.check_pages()
        checker.check_links()
        checker.check_search()
    finally:
        browser.driver.quit()
    for fault in checker.faults:
        print(f"not ok {fault}", file=sys.stderr)
    if checker.faults:
        sys.exit(1)
    print(f"ok site: {len(checker.pages)} pages, as wide as a phone and as a desk, in light and in dark")


main()
