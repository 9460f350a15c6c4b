# SPDX-License-Identifier: Apache-2.0
"""Compares texts with the page's script, in the browser: laws that hold for any two texts, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from triton_ext.tracing import page as page_module

LAWS = """
(seed) => {
  let state = seed + 1;
  const random = (below) => { state = (state * 48271) % 2147483647; return state % below; };
  const size = random(60), letters = 1 + random(12);
  const a = Int32Array.from({length: size}, () => random(letters));
  // The second is the first with edits, or another one.
  const b = random(4) === 0 ? Int32Array.from({length: random(60)}, () => random(letters))
    : Int32Array.from([...a].flatMap((x) => [[x], [x], [x], [], [x, random(letters)], [random(letters)]][random(6)]));
  const longest = (() => {
    const t = Array.from({length: a.length + 1}, () => new Int32Array(b.length + 1));
    for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) {
      t[i][j] = a[i - 1] === b[j - 1] ? t[i - 1][j - 1] + 1 : Math.max(t[i - 1][j], t[i][j - 1]);
    }
    return t[a.length][b.length];
  })();
  const problems = [];
  const check = (partner, what) => {
    let last = -1, pairs = 0;
    partner.forEach((j, i) => {
      if (j < 0) return;
      if (a[i] !== b[j]) problems.push(`${what}: ${i} and ${j} are not the same`);
      if (j <= last) problems.push(`${what}: out of order`);
      last = j; pairs++;
    });
    return pairs;
  };
  check(matchSequences(a, b), 'matchSequences');
  const partner = new Int32Array(a.length).fill(-1);
  if (a.length && b.length) {
    const [x, y] = shortestEdits(a, 0, a.length, b, 0, b.length, partner);
    if (x !== a.length || y !== b.length) problems.push('shortestEdits stopped early');
    if (check(partner, 'shortestEdits') !== longest) problems.push(`shortestEdits: ${check(partner, '')} pairs, not ${longest}`);
  }
  // The same letters as lines of IR: of names, of operations and of both.
  const ops = ['x.a', 'x.b', 'x.c'];
  const lines = (ids) => [...ids].map((id, i) => `%${i} = ${ops[id % 3]} %${Math.max(0, i - 1 - id % 2)} {n = ${id}}`);
  const table = [...new Set([...lines(a), ...lines(b)])];
  const text = (of) => ({lines: of, ids: Int32Array.from(of, (line) => table.indexOf(line))});
  const before = text(lines(a)), after = text(lines(b));
  const rows = compareTexts(before, after, new LineFacts(table));
  for (const [side, of] of [['left', before], ['right', after]]) {
    const seen = [...rows[side]].filter((place) => place >= 0);
    if (seen.join() !== of.lines.map((_, i) => i).join()) problems.push(`${side}: not every line once and in order`);
  }
  rows.kind.forEach((kind, row) => {
    const [l, r] = [before.lines[rows.left[row]], after.lines[rows.right[row]]];
    if (kind === SAME && l !== r) problems.push('SAME lines differ');
    if (kind !== SAME && l !== undefined && l === r && kind !== REPLACED) problems.push('equal lines are not SAME');
    if (kind === RENAMED && l.replace(NAME, '') !== r.replace(NAME, '')) problems.push('RENAMED lines differ in more than names');
    if (kind === CHANGED) {
      const [x, y] = compareWords(l, r);
      const rest = (line, ranges) => { let kept = '', at = 0; for (const [s, e] of ranges) { kept += line.slice(at, s); at = e; } return kept + line.slice(at); };
      if (rest(l, x).replace(/\\s/g, '') !== rest(r, y).replace(/\\s/g, '')) problems.push(`words: ${l} | ${r}`);
    }
  });
  rows.movedTo.forEach((j, i) => { if (j >= 0 && rows.movedFrom[j] !== i) problems.push('moved one way only'); });
  return problems;
}
"""

COMPARE = """
([before, after]) => {
  const table = [...new Set([...before, ...after])];
  const text = (lines) => ({lines, ids: Int32Array.from(lines, (line) => table.indexOf(line))});
  const {left, right, kind, movedTo} = compareTexts(text(before), text(after), new LineFacts(table));
  return [...kind].map((how, row) => {
    const moved = how === REPLACED && left[row] >= 0 && movedTo[left[row]] >= 0;
    return `${['same', 'renamed', 'changed', moved ? 'moved' : 'replaced'][how]} ${left[row]} ${right[row]}`;
  });
}
"""


@pytest.fixture(scope="module")
def script(browser: Any) -> Iterator[Any]:
    """Returns an empty page with the part of the script that compares texts."""
    page = browser.new_page()
    for name in ("syntax.js", "diff.js"):
        page.add_script_tag(content=(page_module._ASSETS / name).read_text())
    yield page
    page.close()


def compare(script: Any, before: str, after: str) -> list[str]:
    lines = [[line.strip() for line in text.strip().splitlines()] for text in (before, after)]
    rows: list[str] = script.evaluate(COMPARE, lines)
    return rows


@pytest.mark.slow
def test_laws(script: Any) -> None:
    problems = script.evaluate(
        f"() => {{ const law = {LAWS}; return Array.from({{length: 3000}}, (_, seed) => law(seed)).flat(); }}"
    )
    assert problems[:5] == []


def test_renumbering_is_no_change(script: Any) -> None:
    before = """
      tt.func @f(%a: i32) {
      %0 = x.dead %a : i32
      %1 = x.a %a : i32
      %2 = x.b %1, %1 : i32
      %3 = x.c %2, %1 : i32
    """
    after = """
      tt.func @f(%a: i32) {
      %0 = x.a %a : i32
      %1 = x.b %0, %0 : i32
      %2 = x.c %1, %0 : i32
    """
    assert compare(script, before, after) == ["same 0 0", "replaced 1 -1", "renamed 2 1", "renamed 3 2", "renamed 4 3"]
    # The operands of the last are swapped: that is more than numbers.
    assert compare(script, before, after.replace("%1, %0", "%0, %1"))[-1] == "changed 4 3"
    # What is used is not what was defined here before.
    assert compare(script, before, after.replace("x.b %0, %0", "x.b %0, %a"))[3] == "changed 3 2"


def test_a_value_from_elsewhere_that_became_another_is_a_change(script: Any) -> None:
    assert compare(script, "x.use %c0 : i32", "x.use %c1 : i32") == ["changed 0 0"]


def test_names_hold_within_a_function(script: Any) -> None:
    one = "tt.func @f() {\n%0 = x.a\n%1 = x.b %0\n}\ntt.func @g() {\n%0 = x.c\n%1 = x.d %0\n}"
    other = "tt.func @f() {\n%5 = x.a\n%6 = x.b %5\n}\ntt.func @g() {\n%7 = x.c\n%8 = x.d %7\n}"
    assert [row.split()[0] for row in compare(script, one, other)] == ["same", "renamed", "renamed", "same"] * 2


def test_blocks_and_aliases_are_renumbered_too(script: Any) -> None:
    one = "#blocked = #ttg.blocked<{a = 1}>\n#blocked1 = #ttg.blocked<{a = 2}>\n^bb1(%0: i32):\n%1 = x.a %0 : t<#blocked1>\ncf.br ^bb1"
    other = "#blocked = #ttg.blocked<{a = 2}>\n^bb2(%5: i32):\n%6 = x.a %5 : t<#blocked>\ncf.br ^bb2"
    assert compare(script, one, other) == ["replaced 0 -1", "renamed 1 0", "renamed 2 1", "renamed 3 2", "renamed 4 3"]


def test_aliases_that_were_moved_are_renumbered(script: Any) -> None:
    one = "#blocked = #ttg.blocked<{a = 1}>\n#blocked1 = #ttg.blocked<{a = 2}>\nx.a %p : t<#blocked>\nx.b %p : t<#blocked1>"
    other = "#blocked = #ttg.blocked<{a = 2}>\n#blocked1 = #ttg.blocked<{a = 1}>\nx.a %p : t<#blocked1>\nx.b %p : t<#blocked>"
    assert compare(script, one, other)[-2:] == ["renamed 2 2", "renamed 3 3"]


def test_moved_lines(script: Any) -> None:
    before = "%0 = x.hoisted %a : tensor<2xi32>\nx.a\nx.b\nx.c"
    after = "x.a\nx.b\nx.c\n%0 = x.hoisted %a : tensor<2xi32>"
    rows = compare(script, before, after)
    assert rows == ["moved 0 -1", "same 1 0", "same 2 1", "same 3 2", "replaced -1 3"]


def test_the_same_operation_is_set_against_itself(script: Any) -> None:
    before = "%0 = x.load %p : tensor<4xf16>\n%1 = x.dot %0, %0 : tensor<4xf16>\nx.store %1"
    after = "%0 = x.load %p : tensor<4xf16, #b>\n%1 = x.cvt %0 : tensor<4xf16, #b>\n%2 = x.dot %1, %1 : tensor<4xf16, #m>\nx.store %2"
    assert compare(script, before, after) == ["changed 0 0", "replaced -1 1", "changed 1 2", "renamed 2 3"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(_, i) => `a ${i}`", "(_, i) => `b ${i}`"),
        ("(_, i) => `x.${i % 3}`", "(_, i) => `x.${i * 7 % 5}`"),
        ("(_, i) => `x.${i * i % 101}`", "(_, i) => `x.${i * i * i % 103}`"),
        ("(_, i) => `x.${i}`", "(_, i) => `x.${30000 - i}`"),
        ("(_, i) => `x.${i ^ 1}`", "(_, i) => `x.${i}`"),
        ("() => 'x.a'", "() => 'x.a'"),
    ],
)
def test_time_is_bounded(script: Any, before: str, after: str) -> None:
    """Compares texts of 30,000 lines that have nothing, or only little, in common."""
    milliseconds = script.evaluate(
        f"""() => {{
          const made = [Array.from({{length: 30000}}, {before}), Array.from({{length: 29000}}, {after})];
          const ids = new Map();
          const texts = made.map((lines) => ({{lines, ids: Int32Array.from(lines, (line) => {{
            if (!ids.has(line)) ids.set(line, ids.size);
            return ids.get(line);
          }})}}));
          const start = performance.now();
          compareTexts(...texts, new LineFacts([...ids.keys()]));
          return performance.now() - start;
        }}"""
    )
    assert milliseconds < 10_000
    print(milliseconds)


@pytest.mark.slow
def test_long_lines_are_bounded(script: Any) -> None:
    result = script.evaluate(
        "() => { const long = (c) => Array.from({length: 20000}, (_, i) => c + i % 7).join(' '); return compareWords(long('a'), long('b')); }"
    )
    assert result[2] == 0
