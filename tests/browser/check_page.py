#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_page.py URL SCENARIO OUT [PLOT.svg...]: the page of `mtl export`, as a browser has it.

The exporter at URL asks the stand-in for mtld (tests/stub_mtld.py) whose answers are in the
file SCENARIO. Screenshots go to the directory OUT. One PASS or FAIL line a step.
"""

import json
import os
import re
import sys
import time

import picture
from webdriver import Browser

url, scenario, out, *plots = sys.argv[1:]
with open(scenario, encoding="utf-8") as file:
    first = json.load(file)
failed = 0
browser = Browser()

CURVES = "return document.querySelectorAll('#chart .curve:not(.untrusted)').length"
ROW = "return [...document.querySelectorAll('#table tbody tr')].find((row) => row.textContent.includes(arguments[0]))"
CELL = ROW + ".cells[arguments[1]].textContent"
MISSES, INTERVAL = 4, 5


def scene(changes):
    with open(scenario + ".new", "w", encoding="utf-8") as file:
        json.dump({**first, **changes}, file)
    os.rename(scenario + ".new", scenario)


def step(name):
    def run(test):
        global failed
        try:
            test()
            print("PASS", name)
        except (AssertionError, RuntimeError) as error:
            failed += 1
            print("FAIL", name, "\n    ", error)
        sys.stdout.flush()
    return run


def text(selector):
    return browser.run("return document.querySelector(arguments[0]).textContent", selector)


def colour_of(selector, which="stroke"):
    value = browser.run("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, which)
    return tuple(map(int, re.findall(r"\d+", value)[:3]))


def luminance(colour):
    parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


browser.size(1280, 1000)
browser.open(url + "/")


@step("curves are drawn, one of each process that has one")
def _():
    browser.until(CURVES + " === 2")
    assert browser.run("return document.querySelectorAll('#table tbody tr').length") == 3


@step("... and seen")
def _():
    time.sleep(0.3)
    data = browser.screenshot(f"{out}/wide.png")
    for slot in (0, 1):
        n = picture.count(data, colour_of(f"#chart .curve.s{slot}"))
        assert n > 500, f"{n} pixels of curve {slot}"


@step("caches of this machine are marked")
def _():
    caches = browser.run("return fetch('curves.json').then((answer) => answer.json()).then((answer) => answer.caches.length)")
    assert browser.run("return document.querySelectorAll('#chart .cache').length") == caches


@step("what a curve says stands beside it")
def _():
    assert "working set" in browser.run(ROW + ".textContent", "redis-server")


@step("too few observations: that, with how many there are")
def _():
    assert "12 of about 60" in browser.run(ROW + ".textContent", "33")
    assert browser.run(ROW + ".querySelector('progress').value", "33") == 12


@step("a name is text, whatever it is")
def _():
    scene({"processes": [{**first["processes"][0], "comm": "<img src=x onerror=alert(1)>"}, *first["processes"][1:]]})
    browser.until(ROW, "<img src=x")
    assert not browser.run("return document.querySelector('img')")
    scene({})
    browser.until(ROW, "redis-server")


@step("curves follow what mtld says")
def _():
    before = browser.run("return document.querySelector('#chart .curve.s0:not(.untrusted)').getAttribute('d')")
    scene({"processes": [{**first["processes"][0], "misses": [[4e6, 9e6]]}, *first["processes"][1:]]})
    browser.until("return document.querySelector('#chart .curve.s0:not(.untrusted)').getAttribute('d') !== arguments[0]", before)
    scene({})


@step("values by the pointer")
def _():
    box = browser.run("const r = document.querySelector('#chart svg').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")
    browser.hover(box[0] + box[2] * 0.9, box[1] + box[3] / 2)
    far = text("#size-text"), browser.run(CELL, "redis-server", MISSES)
    browser.hover(box[0] + box[2] * 0.45, box[1] + box[3] / 2)
    near = text("#size-text"), browser.run(CELL, "redis-server", MISSES)
    assert far[0] != near[0] and far[1] != near[1], (far, near)
    assert "–" in browser.run(CELL, "redis-server", INTERVAL)
    browser.hover(5, 5)


@step("values by the keyboard")
def _():
    browser.run("document.querySelector('#size').focus()")
    before = text("#size-text")
    browser.press("Right", "Right")
    after = text("#size-text")
    assert before != after, after
    assert "redis-server" in browser.run("return document.querySelector('#size').getAttribute('aria-valuetext')")
    browser.press("Home")
    assert "not told apart" in browser.run(CELL, "redis-server", INTERVAL)
    assert browser.run(CELL, "redis-server", MISSES) == "–"


@step("everything is reached by Tab, and seen to be")
def _():
    browser.run("document.activeElement.blur()")
    seen = []
    for _ in range(14):
        browser.press("Tab")
        seen.append(browser.run("const e = document.activeElement; return e.id || e.name || e.type || e.tagName"))
        width = browser.run("const e = document.activeElement; return parseFloat(getComputedStyle(e.type === 'radio' ? e.nextSibling : e).outlineWidth)")
        assert width >= 2 or seen[-1] == "BODY", f"no ring around {seen[-1]}"
    for name in ("scale", "pause", "size", "button", "checkbox"):
        assert name in seen, (name, seen)


@step("the scale, and what is drawn, can be chosen")
def _():
    before = browser.run("return document.querySelector('#chart .curve.s0:not(.untrusted)').getAttribute('d')")
    browser.run("document.querySelector('input[value=linear]').click()")
    assert browser.run("return document.querySelector('#chart .curve.s0:not(.untrusted)').getAttribute('d')") != before
    browser.run(ROW + ".querySelector('input').click()", "postgres")
    assert browser.run(CURVES) == 1
    browser.run(ROW + ".querySelector('input').click()", "postgres")
    browser.run("document.querySelector('input[value=log]').click()")
    assert browser.run(CURVES) == 2


@step("all values, as a table")
def _():
    browser.run("document.querySelector('details').open = true")
    browser.until("return document.querySelectorAll('#values-table tbody tr').length > 10")
    browser.run("document.querySelector('details').open = false")


@step("a window of 320 pixels: nothing beside it")
def _():
    browser.size(320, 1400)
    browser.until("return document.querySelector('#chart svg').viewBox.baseVal.width < 320")
    over = browser.run("return document.documentElement.scrollWidth - innerWidth")
    assert over <= 0, f"{over} pixels too wide"
    browser.screenshot(f"{out}/narrow.png")


@step("text can be read, light and dark; curves can be told from the ground")
def _():
    browser.size(1280, 1000)
    for scheme in ("light", "dark"):
        browser.media(prefers_color_scheme=scheme)
        time.sleep(0.2)
        sheet = colour_of("#curves", "backgroundColor")
        for selector, which, least in (("h2", "color", 7), (".says", "color", 4.5), ("#chart text", "fill", 4.5), ("#daemon", "color", 4.5),
                                       ("#chart .curve.s0", "stroke", 3), ("#chart .curve.s1", "stroke", 3)):
            got = contrast(colour_of(selector, which), sheet)
            assert got >= least, f"{selector} {scheme}: {got:.1f}"
        browser.screenshot(f"{out}/{scheme}.png")
    browser.media(prefers_color_scheme="light")


@step("every control has a name")
def _():
    nameless = browser.run("""return [...document.querySelectorAll('button, input, [role=img], table, progress')].filter((e) =>
        !(e.labels?.length || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim())).length""")
    assert nameless == 0, nameless


@step("nothing is tracked: that, and what to do")
def _():
    scene({"processes": []})
    browser.until("return !document.querySelector('#empty').hidden")
    assert "mtl track" in text("#empty")
    browser.screenshot(f"{out}/empty.png")
    scene({})
    browser.until(CURVES + " === 2")


@step("mtld is away: why, and the last curves faded")
def _():
    scene({"error": {"Status": {"error": "io.mtld.Failed", "parameters": {"reason": "a test"}}}})
    browser.until("return document.querySelector('#notice').textContent.includes('a test')")
    assert text("#state") == "mtld is away"
    assert browser.run(CURVES) == 2
    assert browser.run("return document.querySelector('#chart').classList.contains('away')")
    browser.screenshot(f"{out}/away.png")
    scene({})
    browser.until("return document.querySelector('#notice').hidden && document.querySelector('#state').textContent === 'live'")


@step("no error in the console")
def _():
    errors = [entry for entry in browser.log() if entry["level"] in ("SEVERE", "WARNING")]
    assert not errors, errors


@step("nothing was asked of anybody else")
def _():
    foreign = browser.run("return performance.getEntriesByType('resource').map((e) => e.name).filter((name) => !name.startsWith(location.origin))")
    assert not foreign, foreign


for plot in plots:
    @step(f"a plot: {os.path.basename(plot)}")
    def _():
        browser.open("file://" + os.path.abspath(plot))
        assert browser.run("return document.documentElement.tagName") == "svg"
        assert browser.run("return document.querySelectorAll('path, polyline').length") > 3
        size = browser.run("const r = document.documentElement.getBoundingClientRect(); return [r.width, r.height]")
        assert size[0] > 300 and size[1] > 200, size
        data = browser.screenshot(f"{out}/{os.path.basename(plot)}.png")
        assert picture.colours(data) > 10, "blank"
        assert not [entry for entry in browser.log() if entry["level"] == "SEVERE"]

browser.close()
sys.exit(failed > 0)
