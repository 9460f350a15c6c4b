// SPDX-License-Identifier: Apache-2.0
//
// The view at the right: a text, or two of them side by side. It decides which rows
// there are, what is folded and how lines are broken, and it finds its way in them.

"use strict";

const LINE_HEIGHT = 18; // pixels; page.css has it too
const FOLD_HEIGHT = 24;
const CONTEXT = 3; // unchanged lines around changed ones
const LEAST_FOLD = 4; // fewer lines than that are not worth folding

class CodeView {
  // `openOutput` is called with an entry and a line of the kernel's file.
  constructor(trace, selection, openOutput) {
    this.trace = trace;
    this.selection = selection;
    this.openOutput = openOutput;
    this.rows = new Rows($("code"));
    this.model = null;
    this.items = []; // a row of the model, or a fold as [first row, number of rows]
    this.hunks = []; // of each the item that it begins with
    this.wrap = true;
    this.unfold = false;
    this.showRenamed = false;
    this.value = null; // the marked value: {name, side}
    this.needle = "";
    this.measure();
    this.listen();
  }

  show(entry) {
    this.entry = entry;
    this.hunk = 0;
    this.opened = new Set(); // folds that were opened, by their first row
    this.value = null;
    this.outputs = entry.kind === "source" ? this.trace.countOutputs() : null;
    this.model = this.makeModel(entry);
    this.describe(this.noteOn(entry));
    this.lay();
    $("across").scrollLeft = 0;
    $("code").scrollTop = 0;
    if (this.hunks.length && !this.rows.isVisible(this.hunks[0])) this.rows.show(this.hunks[0], 0.25);
    this.rows.draw();
    if (this.needle) this.search(0);
  }

  // What is shown: which texts, and which of their lines stand beside each other. Null: nothing is.
  makeModel({view}) {
    const {text, language = "mlir", before = null, after = null} = view;
    if (text === undefined && before !== null && after !== null && before !== after) {
      return {sides: 2, language, texts: [before, after], rows: this.trace.compare(before, after)};
    }
    const only = text === undefined ? after ?? before : text;
    if (only === null) return null;
    const count = this.trace.text(only).lines.length;
    const places = Int32Array.from({length: count}, (_, i) => i);
    return {sides: 1, language, texts: [only, only], rows: {left: places, right: places, kind: new Uint8Array(count)}};
  }

  noteOn({view, pass}) {
    const {text, bytes = null, before = null, after = null} = view;
    if (text === null && bytes !== null) {
      const sass = this.trace.data.sass === null ? "" : " Its disassembly is the last entry of the list, SASS.";
      return `${bytes.toLocaleString("en")} bytes of machine code.${sass}`;
    }
    if (text === null) return "What came out was not recorded.";
    if (text !== undefined) return "";
    if (pass && !pass.ran) return after === null ? "This pass did not run." : "This pass did not run; the module went on as it was.";
    if (after === null) return "The IR was not recorded.";
    if (before === null) return "The IR before was not recorded.";
    if (before !== after) return "";
    return pass && pass.changed ? "This pass changed nothing that the text shows." : "Nothing changed.";
  }

  // The numbers above the code, and what the buttons beside them can do.
  describe(note) {
    const counts = {removed: 0, added: 0, changed: 0, moved: 0, renamed: 0};
    const two = this.model !== null && this.model.sides === 2;
    if (two) {
      const {kind, left, right, movedTo, movedFrom} = this.model.rows;
      kind.forEach((how, row) => {
        if (how === CHANGED) counts.changed++;
        else if (how === RENAMED) counts.renamed++;
        else if (how === REPLACED) {
          if (left[row] >= 0) counts[movedTo[left[row]] >= 0 ? "moved" : "removed"]++;
          if (right[row] >= 0 && movedFrom[right[row]] < 0) counts.added++;
        }
      });
    }
    const real = counts.removed + counts.added + counts.changed + counts.moved;
    this.onlyRenamed = two && !real && counts.renamed > 0;
    if (this.onlyRenamed) note = "Only numbers of values differ.";
    else if (two && !real) note = "Only locations differ.";
    else if (!note && this.model && !two) note = counted(this.model.rows.kind.length, "line");
    const how = {removed: ["−", ""], added: ["+", ""], changed: ["~", ""], moved: ["⇅ ", " moved"], renamed: ["≈ ", " renumbered"]};
    const parts = Object.entries(counts).filter(([, count]) => count).map(([name, count]) =>
      el("span", {className: name, title: counted(count, `${name === "renamed" ? "renumbered" : name} line`)}, how[name][0] + count.toLocaleString("en") + how[name][1]));
    $("counts").replaceChildren(...(note ? [el("span", {className: "note"}, note)] : []), ...parts);
    $("renamed").disabled = !counts.renamed;
    for (const id of ["previous-hunk", "next-hunk", "unfold"]) $(id).disabled = !two;
    $("hunks").hidden = !two;
    this.nameSides(two);
  }

  nameSides(two) {
    $("sides").hidden = !two && !(this.outputs && this.outputs.length);
    $("sides").classList.toggle("outputs", this.outputs !== null);
    if (this.outputs) {
      $("before-title").replaceChildren("     ", ...this.outputs.map(({entry}) => el("b", {}, entry.stage ? entry.stage.name : "sass")));
      $("after-title").textContent = "lines of each stage that come from a line of the source";
    } else if (two) {
      const [before, after] = this.model.texts.map((text) => this.trace.text(text).lines.length);
      $("before-title").textContent = `before  ${counted(before, "line")}`;
      $("after-title").textContent = `after  ${counted(after, "line")}`;
    }
  }

  // Rows

  isChange(row) {
    const how = this.model.rows.kind[row];
    return how >= CHANGED || (how === RENAMED && (this.showRenamed || this.onlyRenamed));
  }

  // Whether a row comes from the selected Python line.
  isSelected(row) {
    const {rows, texts, sides} = this.model;
    const from = (place, side) => place >= 0 && this.selection.state(this.trace.text(texts[side]).chains[place]) === 2;
    return from(rows.right[row], 1) || (sides === 2 && from(rows.left[row], 0));
  }

  linesAt(row) {
    const {rows, texts} = this.model;
    return [[rows.left[row], texts[0]], [rows.right[row], texts[1]]].map(([place, text]) => this.trace.text(text).lines[place] ?? null);
  }

  // Decides what is folded, and how high everything is.
  lay() {
    this.items = [];
    this.hunks = [];
    const count = this.model ? this.model.rows.kind.length : 0;
    const kept = this.keptRows(count);
    let inHunk = false;
    for (let row = 0; row < count;) {
      let end = row;
      while (end < count && !kept[end]) end++;
      if (end - row >= LEAST_FOLD && !this.opened.has(row)) {
        this.items.push([row, end - row]);
        inHunk = false;
        row = end;
        continue;
      }
      for (end = Math.max(end, row + 1); row < end; row++) {
        const change = this.model.sides === 2 && this.isChange(row);
        if (change && !inHunk) this.hunks.push(this.items.length);
        inHunk = change;
        this.items.push(row);
      }
    }
    if (this.hunk >= this.hunks.length) this.hunk = 0;
    this.nameHunk();
    this.fit();
    const height = this.heights();
    this.rows.set(this.items.length, (i) => height(this.items[i]), (i) => this.makeItem(i));
  }

  // Which rows are never folded.
  keptRows(count) {
    const kept = new Uint8Array(count);
    if (!this.model || this.model.sides === 1 || this.unfold) return kept.fill(1);
    for (let row = 0; row < count; row++) {
      if (this.isChange(row)) kept.fill(1, Math.max(0, row - CONTEXT), row + CONTEXT + 1);
      else if (this.selection.some && this.isSelected(row)) kept[row] = 1;
    }
    return kept.includes(1) ? kept : kept.fill(1);
  }

  makeItem(i) {
    const item = this.items[i];
    if (Array.isArray(item)) return makeFold(this, item);
    if (this.outputs) return makeSourceLine(this, item);
    if (this.model.sides === 1) return makeLine(this, item);
    const row = makePair(this, item);
    row.classList.toggle("current", this.hunks[this.hunk] === i);
    return row;
  }

  // Lays out again; what is at the top of the screen stays there.
  layAgain() {
    const top = this.items[this.rows.top];
    const row = Array.isArray(top) ? top[0] : top;
    const scrolled = $("code").scrollTop > 0;
    this.lay();
    const at = this.items.findIndex((item) => (Array.isArray(item) ? item[0] + item[1] > row : item >= row));
    if (scrolled && at >= 0) this.rows.show(at, 0);
    this.rows.draw();
  }

  openFold(row) {
    const {scrollTop} = $("code");
    this.opened.add(row);
    this.lay();
    $("code").scrollTop = scrollTop;
    this.rows.draw();
  }

  toggle(name) {
    this[name] = !this[name];
    if (name === "unfold") this.opened.clear();
    $("code").style.setProperty("--x", "0px");
    this.layAgain();
  }

  // Lines that are too long

  // How wide a character is, and the view.
  measure() {
    const ruler = el("code", {className: "ruler"}, "0".repeat(100));
    document.body.append(ruler);
    this.character = ruler.getBoundingClientRect().width / 100;
    ruler.remove();
    this.width = $("code").clientWidth;
  }

  // How many characters of a line have room; page.css has the columns beside the text.
  fit() {
    const {sides = 1, texts = []} = this.model || {};
    const lines = texts.map((text) => this.trace.text(text).lines);
    const digits = Math.max(3, ...lines.map(({length}) => String(length).length));
    const beside = (digits + (this.outputs ? 2 + 7 * this.outputs.length : 7)) * this.character + 14 + 1 + 4;
    this.columns = Math.max(20, Math.floor((this.width / sides - beside) / this.character));
    $("code").dataset.sides = sides;
    $("code").classList.toggle("wrap", this.wrap);
    $("code").classList.toggle("outputs", this.outputs !== null);
    $("code").style.setProperty("--outputs", this.outputs ? this.outputs.length : 0);
    $("code").style.setProperty("--digits", digits);
    const longest = this.wrap ? 0 : lines.flat().reduce((most, {length}) => Math.max(most, length), 0);
    $("across").hidden = longest <= this.columns;
    $("across").firstElementChild.style.width = `${this.width + (longest - this.columns + 2) * this.character}px`;
  }

  // How far the parts of a broken line are indented.
  hang(line) {
    return Math.min(line.length - line.trimStart().length + 4, this.columns >> 1);
  }

  // Where a line is broken: behind a blank if one is near, else a comma or a bracket.
  breaks(line) {
    const {columns} = this;
    const found = [];
    if (!this.wrap || line.length <= columns) return found;
    const rest = columns - this.hang(line);
    let start = 0;
    for (let width = columns; line.length - start > width; width = rest) {
      const least = start + width * 0.6;
      const last = (characters) => {
        let at = start + width;
        while (at > least && !characters.includes(line[at - 1])) at--;
        return at > least ? at : 0;
      };
      start = last(" ") || last(",<({[") || start + width;
      found.push(start);
    }
    return found;
  }

  // For an item how high it is.
  heights() {
    const {rows, texts, sides} = this.model || {texts: []};
    const [before, after] = texts.map((text) => this.trace.text(text).lines);
    const breaks = (lines, place) => (place >= 0 && lines[place].length > this.columns ? this.breaks(lines[place]).length : 0);
    return (item) => {
      if (Array.isArray(item)) return FOLD_HEIGHT;
      if (!this.wrap) return LINE_HEIGHT;
      const most = Math.max(breaks(after, rows.right[item]), sides === 2 ? breaks(before, rows.left[item]) : 0);
      return (most + 1) * LINE_HEIGHT;
    };
  }

  // Ways through the rows

  nameHunk() {
    $("hunk").textContent = this.hunks.length ? `${this.hunk + 1}/${this.hunks.length}` : "0/0";
  }

  stepHunk(by) {
    if (!this.hunks.length) return;
    let next = this.hunk + by;
    if (!this.rows.isVisible(this.hunks[this.hunk])) {
      // After scrolling away: the next one from what is on the screen.
      const {top} = this.rows;
      const below = this.hunks.findIndex((item) => item >= top);
      next = below < 0 ? this.hunks.length - (by < 0) : below - (by < 0);
    }
    this.hunk = Math.min(Math.max(next, 0), this.hunks.length - 1);
    this.nameHunk();
    this.rows.show(this.hunks[this.hunk], 0.25);
    this.rows.refresh();
  }

  // Looks for what the field holds; goes to the next place (1), the previous one (-1), or nowhere (0).
  search(by) {
    this.needle = $("find").value.toLowerCase();
    const has = (line) => line !== null && line.toLowerCase().includes(this.needle);
    const places = [];
    if (this.needle && this.model) {
      for (let row = 0; row < this.model.rows.kind.length; row++) if (this.linesAt(row).some(has)) places.push(row);
    }
    if (by && places.length) {
      const current = this.foundRow ?? -1;
      const next = by > 0 ? places.find((row) => row > current) : places.filter((row) => row < current).pop();
      this.foundRow = next ?? places[by > 0 ? 0 : places.length - 1];
      this.showRow(this.foundRow);
    }
    const at = places.indexOf(this.foundRow);
    const count = places.length ? `${at >= 0 ? `${at + 1}/` : ""}${counted(places.length, "line")}` : "not found";
    $("found").textContent = this.needle ? count : "";
    this.rows.refresh();
  }

  // Scrolls to a row of the model, and opens the fold that it is in.
  showRow(row) {
    const fold = this.items.find((item) => Array.isArray(item) && item[0] <= row && row < item[0] + item[1]);
    if (fold) {
      this.opened.add(fold[0]);
      this.lay();
    }
    const at = this.items.indexOf(row);
    if (!this.rows.isVisible(at)) this.rows.show(at, 0.4);
  }

  // After the selected Python line has changed.
  reselect() {
    if (this.model && this.model.sides === 2) this.layAgain();
    else this.rows.refresh();
  }

  // Scrolls to the first row that comes from the selected Python line, if none is on the screen.
  showSelected() {
    const found = this.items.flatMap((item, at) => (!Array.isArray(item) && this.isSelected(item) ? [at] : []));
    if (found.length && !found.some((at) => this.rows.isVisible(at))) this.rows.show(found[0], 0.3);
    this.rows.refresh();
  }

  mark(value) {
    this.value = value;
    this.rows.refresh();
  }

  // What the user does

  listen() {
    $("previous-hunk").addEventListener("click", () => this.stepHunk(-1));
    $("next-hunk").addEventListener("click", () => this.stepHunk(1));
    $("find").addEventListener("input", () => {
      this.foundRow = undefined;
      this.search(1);
    });
    $("code").addEventListener("click", (event) => {
      const part = event.target.closest(".v, .f, .l, .a");
      const code = event.target.closest("code");
      if (!part || !code || String(getSelection()) !== "") return;
      const name = nameAt(code, part);
      const again = this.value !== null && this.value.name === name;
      this.mark(name === null || again ? null : {name, side: Number(code.dataset.side)});
    });
    $("code").addEventListener("pointerdown", (event) => {
      const code = event.target.closest("code");
      $("code").dataset.selecting = code ? code.dataset.side : "";
    });
    $("across").addEventListener("scroll", () => $("code").style.setProperty("--x", `${-$("across").scrollLeft}px`));
    $("code").addEventListener("wheel", (event) => {
      const by = event.deltaX || (event.shiftKey ? event.deltaY : 0);
      if (!by || this.wrap) return;
      $("across").scrollLeft += by;
      event.preventDefault();
    }, {passive: false});
    addEventListener("copy", (event) => this.copy(event));
    new ResizeObserver(() => {
      if ($("code").clientWidth === this.width) {
        this.rows.draw();
      } else if (this.entry) {
        this.measure();
        this.layAgain();
      }
    }).observe($("code"));
  }

  // What is copied are lines of text, of one side and without the breaks that they have on the screen.
  copy(event) {
    const selection = getSelection();
    if (!selection.rangeCount || !$("code").contains(selection.anchorNode)) return;
    const part = selection.getRangeAt(0).cloneContents();
    const lines = [...part.querySelectorAll("code")].filter((code) => code.dataset.side === $("code").dataset.selecting);
    event.clipboardData.setData("text/plain", lines.length ? lines.map((code) => code.textContent).join("\n") : part.textContent);
    event.preventDefault();
  }
}
