// SPDX-License-Identifier: Apache-2.0
//
// Differences of two texts, line by line and word by word. Lines are numbers (the
// same number is the same line), so comparing is cheap, and every loop is bounded:
// the time is linear in the length of the texts, and the result may be coarser for
// large ones. This file does not access the page.

"use strict";

const SAME = 0; // the same text
const RENAMED = 1; // the same but for names of values, which were renumbered alike throughout
const CHANGED = 2; // other words in a line that corresponds
const REPLACED = 3; // removed at the left, added at the right, or both without correspondence

const MOST_ROUNDS = 50; // of looking for anchors in what lies between anchors
const MOST_EDITS = 400; // of Myers' algorithm, before it settles for what it has

// Returns for each element of `a` the index of its partner in `b`, or -1; partners are in order.
function matchSequences(a, b) {
  const partner = new Int32Array(a.length).fill(-1);
  const todo = [[0, a.length, 0, b.length]];
  let budget = MOST_ROUNDS * (a.length + b.length);
  while (todo.length) {
    let [a0, a1, b0, b1] = todo.pop();
    while (a0 < a1 && b0 < b1 && a[a0] === b[b0]) partner[a0++] = b0++;
    while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1]) partner[--a1] = --b1;
    if (a0 === a1 || b0 === b1) continue;
    budget -= a1 - a0 + b1 - b0;
    const anchors = budget > 0 ? uniqueAnchors(a, a0, a1, b, b0, b1) : [];
    if (anchors.length === 0) {
      const [x, y] = shortestEdits(a, a0, a1, b, b0, b1, partner);
      if (x < a1 && y < b1) todo.push([x, a1, y, b1]);
      continue;
    }
    for (const [x, y] of [...anchors, [a1, b1]]) {
      if (x > a0 && y > b0) todo.push([a0, x, b0, y]);
      if (x < a1) partner[x] = y;
      a0 = x + 1;
      b0 = y + 1;
    }
  }
  return partner;
}

// Patience diff: pairs elements that occur once in each range, as many as are in the same order.
function uniqueAnchors(a, a0, a1, b, b0, b1) {
  const found = new Map(); // element -> [times in a, place in a, times in b, place in b]
  for (let i = a0; i < a1; i++) {
    const entry = found.get(a[i]);
    if (entry) entry[0]++;
    else found.set(a[i], [1, i, 0, 0]);
  }
  for (let j = b0; j < b1; j++) {
    const entry = found.get(b[j]);
    if (entry) {
      entry[2]++;
      entry[3] = j;
    }
  }
  const tops = []; // of each pile the last pair
  for (const [timesA, x, timesB, y] of found.values()) {
    if (timesA !== 1 || timesB !== 1) continue;
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle].y < y) low = middle + 1;
      else high = middle;
    }
    tops[low] = {x, y, previous: low > 0 ? tops[low - 1] : null};
  }
  const chain = [];
  for (let top = tops[tops.length - 1]; top; top = top.previous) chain.push([top.x, top.y]);
  return chain.reverse();
}

// Myers' diff: pairs ranges with few edits. Returns how far it came. If MOST_EDITS edits were not
// enough, that is before the end, and the caller starts again from there.
function shortestEdits(a, a0, a1, b, b0, b1, partner) {
  const n = a1 - a0;
  const m = b1 - b0;
  const limit = Math.min(n + m, MOST_EDITS);
  const offset = limit + 1;
  let furthest = new Int32Array(2 * limit + 3).fill(-1);
  furthest[offset + 1] = 0;
  const trace = [];
  let best = [0, 0, 0]; // x, y, diagonal
  search: for (let d = 0; d <= limit; d++) {
    trace.push(furthest.slice(offset - d - 1, offset + d + 2));
    best = [-1, -1, 0];
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && furthest[offset + k - 1] < furthest[offset + k + 1]);
      let x = down ? furthest[offset + k + 1] : furthest[offset + k - 1] + 1;
      let y = x - k;
      if (x < 0 || x > n || y > m) {
        furthest[offset + k] = -1 - limit; // outside
        continue;
      }
      while (x < n && y < m && a[a0 + x] === b[b0 + y]) {
        x++;
        y++;
      }
      furthest[offset + k] = x;
      if (x + y > best[0] + best[1]) best = [x, y, k];
      if (x === n && y === m) break search;
    }
  }
  const reached = [best[0], best[1]];
  let [x, y, k] = best;
  for (let d = trace.length - 1; d > 0; d--) {
    const before = trace[d]; // of diagonals -d-1 .. d+1
    const at = (diagonal) => before[diagonal + d + 1];
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const from = down ? k + 1 : k - 1;
    const startX = at(from);
    const startY = startX - from;
    const middle = down ? startX : startX + 1;
    while (x > middle) partner[a0 + --x] = b0 + --y;
    x = startX;
    y = startY;
    k = from;
  }
  while (x > 0 && y > 0) partner[a0 + --x] = b0 + --y;
  return [a0 + reached[0], b0 + reached[1]];
}

// Pairs the elements that `partner` has left between its pairs, by other keys.
function matchGaps(partner, a, b) {
  let x = 0;
  let y = 0;
  for (let i = 0; i <= partner.length; i++) {
    if (i < partner.length && partner[i] < 0) continue;
    const j = i < partner.length ? partner[i] : b.length;
    if (i > x && j > y) {
      const inner = matchSequences(a.subarray(x, i), b.subarray(y, j));
      for (let k = 0; k < inner.length; k++) if (inner[k] >= 0) partner[x + k] = y + inner[k];
    }
    x = i + 1;
    y = j + 1;
  }
}

// The names that a compiler numbers: values, blocks, aliases of attributes.
const NAME = /[%^][\w$.-]+|#[A-Za-z_]\w*(?![\w.$])/g;
const MNEMONIC = /^\s*(?:[%\w:,#$. -]*= )?"?([^\s"({]+)/;

// Facts about each line of a table, each computed once, on demand.
class LineFacts {
  constructor(lines) {
    this.lines = lines;
    this.numbers = new Map();
    this.namelessOf = new Int32Array(lines.length).fill(-1);
    this.mnemonicOf = new Int32Array(lines.length).fill(-1);
    this.namesOf = new Array(lines.length);
  }

  number(key) {
    let found = this.numbers.get(key);
    if (found === undefined) this.numbers.set(key, found = this.numbers.size);
    return found;
  }

  // Returns a number that is equal for lines that differ only in names.
  nameless(id) {
    if (this.namelessOf[id] < 0) this.namelessOf[id] = this.number(this.lines[id].replace(NAME, (name) => name[0]));
    return this.namelessOf[id];
  }

  // Returns a number that is equal for lines with the same operation.
  mnemonic(id) {
    if (this.mnemonicOf[id] < 0) {
      const line = this.lines[id];
      const match = MNEMONIC.exec(line);
      this.mnemonicOf[id] = this.number(match && match[1] ? match[1] : line);
    }
    return this.mnemonicOf[id];
  }

  // Returns the names in a line, in order; those that it defines begin with "=".
  names(id) {
    if (this.namesOf[id] === undefined) this.namesOf[id] = namesIn(this.lines[id]);
    return this.namesOf[id];
  }
}

function namesIn(line) {
  const header = /^\s*\^|\bfunc\b/.test(line);
  return Array.from(line.matchAll(NAME), ({0: name, index}) => {
    const rest = line.slice(index + name.length, index + name.length + 8);
    const first = line.slice(0, index).trim() === "";
    const defines = rest.startsWith(" =") || (header && rest[0] === ":") || (first && (name[0] === "^" || /^[:,]/.test(rest)));
    return defines ? `=${name}` : name;
  });
}

// Returns the rows of a side-by-side view of two texts ({lines, ids}; the ids are those of
// `facts`). A row has the line at the left and at the right (-1: none) and its kind. Also returns
// for each line at the left the line that it was moved to, or -1, and the reverse.
function compareTexts(before, after, facts) {
  const partner = matchSequences(before.ids, after.ids);
  const nameless = [before, after].map((text) => text.ids.map((id) => facts.nameless(id)));
  matchGaps(partner, ...nameless);
  const [movedTo, movedFrom] = findMoved(partner, nameless, before, after);

  // The remaining lines are paired if they have the same operation; moved lines are left out.
  const keys = [before, after].map((text) => text.ids.map((id) => facts.mnemonic(id)));
  movedTo.forEach((place, i) => { if (place >= 0) keys[0][i] = -1; });
  movedFrom.forEach((place, j) => { if (place >= 0) keys[1][j] = -2; });
  matchGaps(partner, ...keys);

  const left = [];
  const right = [];
  const kind = [];
  const put = (i, j, how) => { left.push(i); right.push(j); kind.push(how); };
  let x = 0;
  let y = 0;
  for (let i = 0; i <= partner.length; i++) {
    if (i < partner.length && partner[i] < 0) continue;
    const j = i < partner.length ? partner[i] : after.lines.length;
    while (x < i || y < j) put(x < i ? x++ : -1, y < j ? y++ : -1, REPLACED);
    if (i < partner.length) {
      const how = before.ids[i] === after.ids[j] ? SAME : nameless[0][i] === nameless[1][j] ? RENAMED : CHANGED;
      put(i, j, how);
    }
    x = i + 1;
    y = j + 1;
  }
  const rows = {left: Int32Array.from(left), right: Int32Array.from(right), kind: Uint8Array.from(kind), movedTo, movedFrom};
  checkNames(rows, before, after, facts);
  return rows;
}

// Finds moved lines: those without a partner that occur, apart from names, once on each side.
function findMoved(partner, nameless, before, after) {
  const movedTo = new Int32Array(before.lines.length).fill(-1);
  const movedFrom = new Int32Array(after.lines.length).fill(-1);
  const taken = new Set(partner);
  const places = new Map(); // key -> [place at the left, place at the right]; -1: none yet, -2: several
  const note = (key, side, place) => {
    const entry = places.get(key) || [-1, -1];
    entry[side] = entry[side] === -1 ? place : -2;
    places.set(key, entry);
  };
  partner.forEach((j, i) => { if (j < 0) note(nameless[0][i], 0, i); });
  nameless[1].forEach((key, j) => { if (!taken.has(j)) note(key, 1, j); });
  for (const [i, j] of places.values()) {
    if (i >= 0 && j >= 0 && before.lines[i].trim().length > 10) {
      movedTo[i] = j;
      movedFrom[j] = i;
    }
  }
  return [movedTo, movedFrom];
}

// Marks a row as RENAMED if its names correspond as at their definitions; if an operand became
// another value, the row is a change. The names of values are local to a function.
function checkNames(rows, before, after, facts) {
  const {left, right, kind, movedTo} = rows;
  const aliases = new Map();
  let values = new Map();
  const define = (from, to) => {
    const known = from[0] === "#" ? aliases : values;
    const earlier = known.get(from);
    known.set(from, earlier === undefined || earlier === to ? to : null);
  };
  const defineAll = (from, to) => {
    from.forEach((name, i) => { if (name[0] === "=" && to[i] !== undefined) define(name.slice(1), to[i].replace("=", "")); });
  };
  const namesAt = (row) => [facts.names(before.ids[left[row]]), facts.names(after.ids[right[row]])];
  movedTo.forEach((j, i) => {
    if (j >= 0 && before.lines[i][0] === "#") defineAll(facts.names(before.ids[i]), facts.names(after.ids[j]));
  });
  const isFunction = /\bfunc\b/;
  let start = 0;
  while (start < kind.length) {
    let end = start + 1;
    while (end < kind.length && !(kind[end] !== REPLACED && isFunction.test(after.lines[right[end]]))) end++;
    values = new Map();
    for (let row = start; row < end; row++) {
      if (kind[row] === REPLACED) continue;
      const [from, to] = namesAt(row);
      if (kind[row] !== CHANGED) defineAll(from, to);
      else if (from.length && to.length) defineAll(from.slice(0, 1), to); // the same operation: its result corresponds
    }
    for (let row = start; row < end; row++) {
      if (kind[row] !== RENAMED) continue;
      const [from, to] = namesAt(row);
      const alike = from.every((name, i) => {
        if (name[0] === "=") return true;
        const wanted = (name[0] === "#" ? aliases : values).get(name);
        return wanted === undefined ? name === to[i] : wanted === to[i];
      });
      if (!alike) kind[row] = CHANGED;
    }
    start = end;
  }
}

const WORD = /[\w$.%#@^!-]+|\s+|[^]/g;
const MOST_WORDS = 3000;

// Returns the differences within two lines: the ranges [start, end] at the left, those at the
// right, and the share of characters that both have.
function compareWords(left, right) {
  const words = [left, right].map((line) => line.match(WORD) || []);
  if (words[0].length + words[1].length > MOST_WORDS) return [[[0, left.length]], [[0, right.length]], 0];
  const numbers = new Map();
  const ids = words.map((list) => Int32Array.from(list, (word) => {
    if (!numbers.has(word)) numbers.set(word, numbers.size);
    return numbers.get(word);
  }));
  const partner = matchSequences(...ids);
  const kept = [new Uint8Array(words[0].length), new Uint8Array(words[1].length)];
  let common = 0;
  partner.forEach((j, i) => {
    if (j < 0) return;
    kept[0][i] = kept[1][j] = 1;
    common += words[0][i].trim().length;
  });
  const ranges = words.map((list, side) => {
    const found = [];
    let at = 0;
    list.forEach((word, i) => {
      const blank = kept[side][i] && /^\s+$/.test(word) && i > 0 && i + 1 < list.length && !kept[side][i - 1] && !kept[side][i + 1];
      if (!kept[side][i] || blank) {
        const last = found[found.length - 1];
        if (last && last[1] === at) last[1] = at + word.length;
        else found.push([at, at + word.length]);
      }
      at += word.length;
    });
    return found;
  });
  const longest = Math.max(left.trim().length, right.trim().length);
  return [...ranges, longest ? common / longest : 1];
}
