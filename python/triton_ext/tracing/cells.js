// SPDX-License-Identifier: Apache-2.0
//
// The rows of the view as elements: numbers, where a line comes from, its sign and
// its text with colours and marks. A `view` (see view.js) says what to make them of.

"use strict";

const LEAST_ALIKE = 0.35; // share of a line's characters from which on words are compared
const LEAST_LIKELY = 0.6; // the same for lines with different operations
const VALUE = /[%@^#][\w$.-]+/g;
const SIGNS = {removed: ["−", "−"], added: ["+", "+"], moved: ["↓", "↑"], renamed: ["≈", "≈"]};

function makeFold(view, [row, count]) {
  const fold = button({className: "fold"}, el("span", {}, "⋯"), ` ${counted(count, "unchanged line")} `);
  const renamed = view.model.rows.kind.subarray(row, row + count).reduce((sum, how) => sum + (how === RENAMED), 0);
  if (renamed) fold.append(el("span", {className: "renamed"}, `${renamed} renumbered`));
  fold.addEventListener("click", () => view.openFold(row));
  return fold;
}

// The row of one line.
function makeLine(view, place) {
  return el("div", {className: "row"}, ...makeSide(view, "same", place, 1));
}

// The row of a line of the kernel's file: how many lines of each stage come from it, with a way there.
function makeSourceLine(view, place) {
  const row = makeLine(view, place);
  row.classList.toggle("selected", view.selection.is(view.trace.data.file, place + 1));
  row.querySelector(".from").replaceWith(...view.outputs.map(({entry, counts, most}) => {
    const count = counts.get(place + 1);
    if (!count) return el("span", {className: "count"});
    const title = `${counted(count, "line")} of ${entry.stage ? entry.stage.name : "SASS"}`;
    const cell = button({className: "count", tabIndex: -1, title, "aria-label": title}, String(count));
    cell.style.setProperty("--share", count / most);
    cell.addEventListener("click", () => view.openOutput(entry, place + 1));
    return cell;
  }));
  return row;
}

// The row of a line at the left and one at the right.
function makePair(view, at) {
  const {rows} = view.model;
  const [left, right, how] = [rows.left[at], rows.right[at], rows.kind[at]];
  let kinds = ["same", "same"];
  let marks = [[], []];
  if (how === RENAMED) {
    kinds = ["renamed", "renamed"];
    marks = renamings(view.linesAt(at));
  } else if (how === CHANGED) {
    kinds = ["removed", "added"];
    marks = differences(view.linesAt(at), LEAST_ALIKE);
  } else if (how === REPLACED) {
    kinds = [
      left < 0 ? "none" : rows.movedTo[left] >= 0 ? "moved" : "removed",
      right < 0 ? "none" : rows.movedFrom[right] >= 0 ? "moved" : "added",
    ];
    if (kinds[0] === "removed" && kinds[1] === "added") marks = differences(view.linesAt(at), LEAST_LIKELY);
  }
  return el("div", {className: "row"}, ...makeSide(view, kinds[0], left, 0, marks[0]), ...makeSide(view, kinds[1], right, 1, marks[1]));
}

// The cells of one line.
function makeSide(view, kind, place, side, marks = []) {
  if (place < 0) return ["span", "span", "span", "code"].map((tag) => el(tag, {className: kind}));
  const {trace, model} = view;
  const text = trace.text(model.texts[side]);
  const line = text.lines[place];
  const chain = text.chains[place];
  const also = kind + ["", " via", " hit"][view.selection.state(chain)];
  const code = el("code", {className: also});
  code.dataset.side = side;
  code.dataset.chain = chain;
  if (kind === "moved") {
    code.title = side === 0 ? `moved to line ${model.rows.movedTo[place] + 1}` : `moved from line ${model.rows.movedFrom[place] + 1}`;
  }
  if (view.wrap) {
    const hang = view.hang(line);
    code.style.paddingLeft = `calc(${hang}ch + 2px)`;
    code.style.textIndent = `-${hang}ch`;
  }
  const inner = el("span", {className: "in"});
  const tokens = trace.tokens(model.texts[side], place, model.language);
  appendColoured(inner, line, tokens, withOtherMarks(view, line, side, marks), view.breaks(line));
  code.append(inner);
  return [
    el("span", {className: `number ${also}`}, String(place + 1)),
    el("span", {className: `from ${also}`}, makeLink(view, chain)),
    el("span", {className: `sign ${also}`}, (SIGNS[kind] || ["", ""])[side]),
    code,
  ];
}

// The number of the Python line that a line comes from; null if that is unknown.
function makeLink({trace}, chain) {
  const frame = trace.frame(chain);
  if (frame === undefined) return null;
  const [file, line] = frame;
  const label = `Python line ${line} of ${baseName(trace.data.files[file][0])}`;
  const link = button({tabIndex: -1, title: trace.chainText(chain), "aria-label": label}, String(line));
  link.style.setProperty("--hue", hueOf(line));
  link.classList.toggle("far", file !== trace.data.file);
  link.dataset.chain = chain;
  return link;
}

// The marks of words that differ between two lines; none if the lines have less in common than `least`.
function differences(lines, least) {
  const [removed, added, alike] = compareWords(...lines);
  if (alike < least) return [[], []];
  return [removed.map((range) => [...range, "word removed"]), added.map((range) => [...range, "word added"])];
}

// The marks of names that differ between two lines that are alike but for names.
function renamings(lines) {
  const names = lines.map((line) => [...line.matchAll(NAME)]);
  return names.map((list, side) => list.flatMap(({0: name, index}, i) =>
    (name === names[1 - side][i][0] ? [] : [[index, index + name.length, "word renamed"]])));
}

// With the marks of a line those of what was searched for and of uses of the marked value; they may overlap.
function withOtherMarks({needle, value, model}, line, side, marks) {
  const all = [...marks];
  if (needle) {
    const lower = line.toLowerCase();
    for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, at + needle.length)) all.push([at, at + needle.length, "found"]);
  }
  if (value && (model.sides === 1 || value.side === side)) {
    for (const {0: name, index} of line.matchAll(VALUE)) if (name === value.name) all.push([index, index + name.length, "use"]);
  }
  if (all.length === marks.length) return marks;
  const places = [...new Set(all.flatMap(([start, end]) => [start, end]))].sort((a, b) => a - b);
  const flat = [];
  for (let i = 0; i + 1 < places.length; i++) {
    const classes = all.filter(([start, end]) => start <= places[i] && end >= places[i + 1]).map(([, , name]) => name);
    if (classes.length) flat.push([places[i], places[i + 1], classes.join(" ")]);
  }
  return flat;
}

// The whole name that a coloured part of a line belongs to; a mark may have cut it in two.
function nameAt(code, part) {
  let before = 0;
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && !part.contains(walker.currentNode)) before += walker.currentNode.length;
  for (const {0: name, index} of code.textContent.matchAll(VALUE)) {
    if (index <= before && before < index + name.length) return name;
  }
  return null;
}
