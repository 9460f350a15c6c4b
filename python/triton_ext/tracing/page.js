// SPDX-License-Identifier: Apache-2.0
//
// The page: the list of passes, the view of one of them and the Python source below.
// All data of a compilation reaches the page as text nodes, never as HTML.

"use strict";

const LINE_HEIGHT = 18; // pixels; page.css has it too
const FOLD_HEIGHT = 24;
const CONTEXT = 3; // unchanged lines around changed ones
const LEAST_FOLD = 4; // fewer lines than that are not worth folding
const LEAST_ALIKE = 0.35; // share of a line's characters from which on words are compared
const MOST_LIKELY = 0.6; // the same for lines with different operations

const $ = (id) => document.getElementById(id);

// Returns an element with properties and children; strings become text.
function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

const milliseconds = (seconds) => (seconds * 1000).toFixed(2);
const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "");
const counted = (number, one, several = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);

function duration(seconds) {
  return seconds >= 1 ? `${seconds.toFixed(2)} s` : `${milliseconds(seconds)} ms`;
}

async function readData() {
  const bytes = Uint8Array.from(atob($("data").textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// The texts of a trace, each assembled on demand.
class Texts {
  constructor(data) {
    this.data = data;
    this.made = new Map();
    this.compared = new Map();
    this.facts = new LineFacts(data.lines);
    this.coloured = new Map();
  }

  get(index) {
    if (!this.made.has(index)) {
      const {texts, entries: [lineOf, chainOf], lines} = this.data;
      const ids = [];
      const chains = [];
      const runs = texts[index];
      for (let i = 0; i < runs.length; i += 2) {
        for (let entry = runs[i]; entry < runs[i] + runs[i + 1]; entry++) {
          ids.push(lineOf[entry]);
          chains.push(chainOf[entry]);
        }
      }
      this.made.set(index, {ids: Int32Array.from(ids), chains, lines: ids.map((id) => lines[id])});
    }
    return this.made.get(index);
  }

  compare(before, after) {
    const key = `${before} ${after}`;
    if (!this.compared.has(key)) this.compared.set(key, compareTexts(this.get(before), this.get(after), this.facts));
    return this.compared.get(key);
  }

  tokens(index, line, language) {
    const text = this.get(index);
    if (language !== "python") return tokensOf(text.lines[line], language);
    if (!this.coloured.has(index)) this.coloured.set(index, pythonTokens(text.lines));
    return this.coloured.get(index)[line];
  }
}

// Returns the entries of the list at the left, in order.
function makeEntries(data) {
  const entries = [];
  const taken = new Set();
  const put = (entry) => {
    let id = entry.id;
    for (let number = 2; taken.has(id); number++) id = `${entry.id}~${number}`;
    taken.add(id);
    entries.push({...entry, id, index: entries.length});
  };
  const kernelText = data.file === null ? null : data.files[data.file][1];
  if (kernelText !== null) {
    put({id: "source", kind: "source", name: "Python source", view: {text: kernelText, language: "python"}, stage: null});
  }
  for (const stage of data.stages) {
    const {text, bytes, language} = stage.output;
    const output = {text, bytes, language};
    // The whole stage as one difference: to its result or, if that is in another language, to the last module.
    const code = stage.name === "llvm" ? "llvm" : "mlir"; // the language of the modules between passes
    const last = text !== null && language === code ? text : stage.passes.length ? stage.passes[stage.passes.length - 1].after : null;
    const whole = stage.source !== null && last !== null;
    put({id: stage.name, kind: "stage", name: stage.name, stage, view: whole ? {before: stage.source, after: last, language: code} : output});
    stage.passes.forEach((pass, position) => {
      const ordinal = stage.passes.filter((other) => other.name === pass.name).length > 1 && pass.ordinal ? `#${pass.ordinal}` : "";
      // Entries of edits have the ordinal 0, also if there are several of one name.
      const edits = stage.passes.slice(0, position).filter((other) => other.name === pass.name && !other.ordinal);
      const again = pass.ordinal || !edits.length ? "" : `.${edits.length}`;
      put({
        id: `${stage.name}/${pass.name}:${pass.ordinal}${again}`, kind: "pass", name: pass.name, ordinal, position: position + 1,
        stage, pass, view: {before: pass.before, after: pass.after, language: code},
      });
    });
    if (whole) {
      put({id: `${stage.name}/output`, kind: "output", name: `${stage.name} output`, stage, view: output});
    }
  }
  if (data.sass !== null) {
    put({id: "sass", kind: "sass", name: "SASS", stage: null, view: {text: data.sass, language: "sass"}});
  }
  return entries;
}

class Page {
  constructor(data) {
    this.data = data;
    this.texts = new Texts(data);
    this.entries = makeEntries(data);
    this.shown = []; // entries that pass the filters
    this.entry = null;
    this.changedOnly = false;
    this.wrap = true;
    this.unfold = false;
    this.showRenamed = false;
    this.sourceOpen = data.files.some(([, text]) => text !== null);
    this.python = null; // the selected Python line: {file, line, chain}
    this.pythonFile = null;
    this.value = null; // the marked value: {name, side}
    this.needle = "";
    this.code = new Rows($("code"));
    this.lines = new Rows($("python"));
    this.makeHead();
    this.makeList();
    this.makeSources();
    this.listen();
    this.filter();
    this.measure();
    this.open(this.fromHash() || this.entries.find((entry) => entry.pass && entry.pass.changed) || this.entries[0]);
    $("passes").focus({preventScroll: true});
  }

  // The head

  makeHead() {
    const {kernel, target, triton, version, pipeline, seconds, stages} = this.data;
    const passes = stages.flatMap((stage) => stage.passes).filter((pass) => pass.ran);
    $("kernel").textContent = kernel;
    const changed = passes.filter((pass) => pass.changed).length;
    const facts = [target, `Triton ${triton}`, counted(passes.length, "pass", "passes"), `${changed} changed the IR`, duration(seconds)];
    $("facts").append(...facts.map((fact) => el("span", {}, fact)));
    $("facts").title = `triton-ext ${version}`;
    if (pipeline) $("facts").append(el("span", {className: "badge edit", title: pipeline}, `edits: ${pipeline}`));
    const total = stages.reduce((sum, stage) => sum + stage.seconds, 0) || 1;
    for (const stage of stages) {
      const share = stage.seconds / total;
      const entry = this.entries.find((other) => other.kind === "stage" && other.stage === stage);
      const title = `${stage.name}: ${duration(stage.seconds)}, ${Math.round(100 * share)} %`;
      const part = el("button", {type: "button", title, "aria-label": title}, share > 0.02 * stage.name.length ? stage.name : "");
      part.stage = stage;
      part.style.flexGrow = Math.max(share, 0.01);
      part.addEventListener("click", () => this.open(entry, {push: true}));
      $("timeline").append(part);
    }
  }

  // The list of passes

  makeList() {
    const slowest = Math.max(...this.entries.map((entry) => (entry.pass ? entry.pass.seconds : 0)), 1e-9);
    for (const entry of this.entries) {
      entry.element = this.makeEntry(entry, slowest);
      entry.searched = entry.pass
        ? [entry.name, entry.ordinal, ...entry.pass.arguments.flat(), entry.pass.pipeline, entry.pass.edit || "", ...entry.pass.remarks].join(" ").toLowerCase()
        : entry.name.toLowerCase();
      $("passes").append(entry.element);
    }
  }

  makeEntry(entry, slowest) {
    const {pass, stage} = entry;
    const option = el("div", {className: `entry ${entry.kind}`, id: `entry-${entry.index}`, role: "option", "aria-selected": "false"});
    option.entry = entry;
    if (!pass) {
      const isStage = entry.kind === "stage";
      const ran = isStage ? stage.passes.filter((other) => other.ran) : [];
      const note = ran.length ? `${ran.filter((other) => other.changed).length} of ${ran.length} changed` : "";
      const size = entry.view.bytes === null || entry.view.bytes === undefined ? "" : `${entry.view.bytes.toLocaleString("en")} bytes`;
      option.append(
        el("span", {className: "position"}), el("span", {className: "mark"}),
        el("span", {className: "name"}, el("b", {}, entry.name), el("span", {className: "arguments"}, note || (isStage ? size : ""))),
        el("span", {className: "delta"}), el("span", {className: "time"}, isStage ? milliseconds(stage.seconds) : ""));
      option.setAttribute("aria-label", isStage ? `stage ${entry.name} ${note}, ${duration(stage.seconds)}` : entry.name);
      return option;
    }
    const [mark, state] = !pass.ran ? ["✗", "dropped"] : pass.changed ? ["●", "changed"] : ["·", "unchanged"];
    option.classList.add(state);
    const dot = entry.name.lastIndexOf(".");
    const values = pass.arguments.map(([name, value]) => `${name}=${value}`).join(" ");
    const delta = pass.ops[1] - pass.ops[0];
    const time = el("span", {className: "time"}, pass.ran ? milliseconds(pass.seconds) : "");
    time.style.setProperty("--share", pass.seconds / slowest);
    option.append(
      el("span", {className: "position"}, String(entry.position)),
      el("span", {className: "mark"}, mark),
      el("span", {className: "name"},
        el("span", {className: "family"}, entry.name.slice(0, dot + 1)), el("b", {}, entry.name.slice(dot + 1)),
        entry.ordinal && el("span", {className: "family"}, entry.ordinal),
        pass.edit && el("span", {className: "badge edit", title: pass.edit}, "edit"),
        pass.remarks.length ? el("span", {className: "badge", title: counted(pass.remarks.length, "remark")}, `${pass.remarks.length} ✎`) : null,
        el("span", {className: "arguments"}, values)),
      el("span", {className: "delta"}, signed(delta)), time);
    option.title = [pass.name, pass.pipeline, pass.edit].filter(Boolean).join("\n");
    option.setAttribute("aria-label", [
      `${entry.name}${entry.ordinal}`, state, delta ? `${signed(delta)} operations` : "", `${milliseconds(pass.seconds)} ms`,
      pass.edit ? "edit" : "", pass.remarks.length ? counted(pass.remarks.length, "remark") : "",
    ].filter(Boolean).join(", "));
    return option;
  }

  filter() {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const passes = (entry) => entry.kind === "pass" && (!this.changedOnly || entry.pass.changed);
    const matches = (entry) => words.every((word) => entry.searched.includes(word));
    const open = (entry) => (entry.kind === "pass" ? passes(entry) : !words.length || entry.kind === "stage") && (entry.kind === "stage" || matches(entry));
    // A stage whose passes are all filtered out is hidden, unless its name matches the filter.
    const left = new Set(this.entries.filter((entry) => entry.kind === "pass" && open(entry)).map((entry) => entry.stage));
    this.shown = this.entries.filter((entry) =>
      entry.kind === "stage" ? !words.length || left.has(entry.stage) || matches(entry) : open(entry) || (words.length && entry.kind !== "pass" && matches(entry)));
    const shown = new Set(this.shown);
    for (const entry of this.entries) entry.element.hidden = !shown.has(entry);
    $("changed-only").setAttribute("aria-pressed", this.changedOnly);
    $("nothing").hidden = this.shown.length > 0;
  }

  step(by, kinds = null) {
    const list = kinds ? this.shown.filter((entry) => kinds.includes(entry.kind)) : this.shown;
    const at = this.entry ? this.entry.index : -1;
    const next = by > 0 ? list.find((entry) => entry.index > at) : list.filter((entry) => entry.index < at).pop();
    if (next) this.open(next);
  }

  // One entry

  open(entry, {push = false} = {}) {
    if (!entry) return;
    const again = entry === this.entry;
    if (this.entry) {
      this.entry.element.setAttribute("aria-selected", "false");
    }
    this.entry = entry;
    entry.element.setAttribute("aria-selected", "true");
    $("passes").setAttribute("aria-activedescendant", entry.element.id);
    entry.element.scrollIntoView({block: "nearest"});
    for (const part of $("timeline").children) part.classList.toggle("here", part.stage === entry.stage);
    this.writeHash(push && !again);
    this.value = null;
    this.makeTitle();
    this.prepare();
    this.lay();
    this.countLines();
    this.layPython();
    $("across").scrollLeft = 0;
    $("code").scrollTop = 0;
    if (this.hunks.length && !this.code.isVisible(this.hunks[0])) this.code.show(this.hunks[0], 0.25);
    else if (this.outputs) this.code.show((this.python ? this.python.line : this.firstLine) - 1, 0.1);
    this.code.draw();
    if (this.needle) this.search(false);
  }

  makeTitle() {
    const {entry} = this;
    const {pass, stage} = entry;
    const what = [el("h2", {}, ...(pass
      ? [el("span", {className: "family"}, `${stage.name} ${entry.position}`), " ", entry.name, el("span", {className: "family"}, entry.ordinal)]
      : [entry.name]))];
    if (pass) {
      const state = !pass.ran ? "dropped" : pass.changed ? "changed" : "unchanged";
      what.push(el("span", {className: `badge ${state}`}, state));
      if (pass.edit) what.push(el("span", {className: "badge edit"}, `edit: ${pass.edit}`));
      if (pass.ran) {
        const [before, after] = pass.ops;
        what.push(el("span", {}, `${milliseconds(pass.seconds)} ms`));
        what.push(el("span", {}, before === after ? counted(after, "operation") : `${before} → ${after} operations (${signed(after - before)})`));
      }
    } else if (entry.kind === "stage") {
      what.push(el("span", {}, duration(stage.seconds)));
      if (stage.passes.length) what.push(el("span", {}, `${stage.passes.filter((other) => other.changed).length} of ${stage.passes.length} passes changed the IR`));
    }
    $("what").replaceChildren(...what);
    const spelling = pass ? pass.pipeline || pass.arguments.map(([name, value]) => `${name}=${value}`).join(" ") : "";
    $("call").replaceChildren(...(spelling ? [el("code", {title: spelling}, spelling)] : []));
    if (pass && pass.pipeline) {
      const copy = el("button", {type: "button", id: "copy", title: "Copy for triton-ext-opt --pass-pipeline (c)"}, "copy");
      copy.addEventListener("click", () => this.copy());
      $("call").append(copy);
    }
    $("remarks").replaceChildren(...(pass ? pass.remarks.map((remark) => el("li", {}, remark)) : []));
    document.title = `${pass ? `${entry.name}${entry.ordinal}` : entry.name} · ${this.data.kernel}`;
  }

  async copy() {
    const text = this.entry.pass && this.entry.pass.pipeline;
    if (!text) return;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = el("textarea", {value: text});
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    $("live").textContent = "Copied";
    const button = $("copy");
    if (button) {
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1200);
    }
  }

  // Copies lines of text without the line breaks that the screen adds.
  copyLines(event) {
    const selection = getSelection();
    if (!selection.rangeCount || !$("code").contains(selection.anchorNode)) return;
    const part = selection.getRangeAt(0).cloneContents();
    const side = $("code").dataset.selecting;
    const lines = [...part.querySelectorAll("code")].filter((code) => code.dataset.side === side);
    event.clipboardData.setData("text/plain", lines.length ? lines.map((code) => code.textContent).join("\n") : part.textContent);
    event.preventDefault();
  }

  // Sets what the code view shows: `model` has the texts, `rows` has the line for each row.
  prepare() {
    const {view, pass} = this.entry;
    this.model = null;
    this.hunk = 0;
    this.opened = new Set(); // folds that were opened, by their first row
    let note = "";
    const {before = null, after = null, language = "mlir"} = view;
    const single = (text, language) => {
      const count = this.texts.get(text).lines.length;
      const places = Int32Array.from({length: count}, (_, i) => i);
      this.model = {sides: 1, language, texts: [text, text], rows: {left: places, right: places, kind: new Uint8Array(count)}};
    };
    if (view.text !== undefined) {
      if (view.text !== null) single(view.text, view.language);
      else if (view.bytes !== null) note = `${view.bytes.toLocaleString("en")} bytes of machine code.`;
      else note = "What came out was not recorded.";
      if (view.bytes !== null && this.data.sass !== null && view.text === null) note += " Its disassembly is the last entry of the list, SASS.";
    } else if (before === null && after === null) {
      note = pass.ran ? "The IR was not recorded." : "This pass did not run.";
    } else if (before === after || before === null || after === null) {
      single(after === null ? before : after, language);
      note = pass && !pass.ran ? "This pass did not run; the module went on as it was."
        : pass && pass.changed && before === after ? "This pass changed nothing that the text shows."
          : before === null || after === null ? "" : "This pass changed nothing.";
    } else {
      this.model = {sides: 2, language, texts: [before, after], rows: this.texts.compare(before, after)};
    }
    this.note = note;
    this.outputs = this.entry.kind === "source" ? this.countOutputs() : null;
    this.countKinds();
  }

  // Counts for each stage how many lines of its output come from each line of the kernel's file.
  countOutputs() {
    const found = [];
    for (const entry of this.entries) {
      const {text, before, after} = entry.view;
      const index = text === undefined ? after : text;
      const shows = entry.kind === "sass" || entry.kind === "output" || (entry.kind === "stage" && before === undefined);
      if (!shows || index === null) continue;
      const counts = this.countFrom(index, this.data.file);
      if (counts.size) found.push({entry, counts, most: Math.max(...counts.values())});
    }
    return found;
  }

  countFrom(text, file) {
    const counts = new Map();
    for (const chain of this.texts.get(text).chains) {
      const frame = this.data.chains[chain][this.data.shown[chain]];
      if (frame && frame[0] === file) counts.set(frame[1], (counts.get(frame[1]) || 0) + 1);
    }
    return counts;
  }

  countKinds() {
    const counts = {removed: 0, added: 0, changed: 0, renamed: 0, moved: 0};
    const parts = [];
    if (this.model && this.model.sides === 2) {
      const {kind, left, right, movedTo} = this.model.rows;
      kind.forEach((how, row) => {
        if (how === CHANGED) counts.changed++;
        else if (how === RENAMED) counts.renamed++;
        else if (how === REPLACED) {
          if (left[row] >= 0) counts[movedTo[left[row]] >= 0 ? "moved" : "removed"]++;
          if (right[row] >= 0 && this.model.rows.movedFrom[right[row]] < 0) counts.added++;
        }
      });
      const signs = {removed: "−", added: "+", changed: "~", moved: "⇅ ", renamed: "≈ "};
      const words = {moved: " moved", renamed: " renumbered"};
      for (const [name, sign] of Object.entries(signs)) {
        if (counts[name]) parts.push(el("span", {className: name, title: counted(counts[name], `${name} line`).replace("renamed", "renumbered")}, `${sign}${counts[name].toLocaleString("en")}${words[name] || ""}`));
      }
      const only = !counts.removed && !counts.added && !counts.changed && !counts.moved;
      if (only && !counts.renamed) this.note = "Only locations differ.";
      this.onlyRenamed = only && counts.renamed > 0;
      if (this.onlyRenamed) this.note = "Only numbers of values differ.";
    }
    if (this.note) parts.unshift(el("span", {className: "note"}, this.note));
    else if (this.model && this.model.sides === 1) parts.unshift(el("span", {className: "note"}, counted(this.model.rows.kind.length, "line")));
    $("counts").replaceChildren(...parts);
    $("renamed").disabled = !counts.renamed;
    $("sides").hidden = !(this.model && this.model.sides === 2);
    $("sides").classList.toggle("outputs", this.outputs !== null);
    if (this.outputs) {
      $("sides").hidden = !this.outputs.length;
      $("before-title").replaceChildren("     ", ...this.outputs.map(({entry}) => el("b", {}, entry.stage ? entry.stage.name : "sass")));
      $("after-title").replaceChildren("lines of each stage that come from a line of the source");
    } else if (!$("sides").hidden) {
      const [before, after] = this.model.texts.map((text) => this.texts.get(text).lines.length);
      $("before-title").textContent = `before  ${counted(before, "line")}`;
      $("after-title").textContent = `after  ${counted(after, "line")}`;
    }
    for (const id of ["previous-hunk", "next-hunk", "unfold"]) $(id).disabled = !(this.model && this.model.sides === 2);
  }

  isChange(row) {
    const how = this.model.rows.kind[row];
    return how >= CHANGED || (how === RENAMED && (this.showRenamed || this.onlyRenamed));
  }

  // Decides which rows are folded, and computes all heights.
  lay() {
    const items = []; // a row, or a fold as [first row, number of rows]
    this.hunks = []; // the first item of each
    if (this.model) {
      const {kind} = this.model.rows;
      const keep = new Uint8Array(kind.length);
      if (this.model.sides === 1 || this.unfold) keep.fill(1);
      else {
        for (let row = 0; row < kind.length; row++) {
          if (this.isChange(row)) keep.fill(1, Math.max(0, row - CONTEXT), row + CONTEXT + 1);
          else if (this.python && this.isFrom(row)) keep[row] = 1;
        }
        if (!keep.includes(1)) keep.fill(1);
      }
      let inHunk = false;
      for (let row = 0; row < kind.length;) {
        let end = row;
        while (end < kind.length && !keep[end]) end++;
        if (end - row >= LEAST_FOLD && !this.opened.has(row)) {
          items.push([row, end - row]);
          inHunk = false;
          row = end;
          continue;
        }
        for (end = Math.max(end, row + 1); row < end; row++) {
          const change = this.model.sides === 2 && this.isChange(row);
          if (change && !inHunk) this.hunks.push(items.length);
          inHunk = change;
          items.push(row);
        }
      }
    }
    this.items = items;
    this.fit();
    $("hunks").hidden = this.model === null || this.model.sides === 1;
    this.nameHunk();
    const height = this.heights();
    this.code.set(items.length, (i) => height(items[i]), (i) => this.makeRow(items[i], i));
    this.layAcross();
  }

  nameHunk() {
    $("hunk").textContent = this.hunks.length ? `${this.hunk + 1}/${this.hunks.length}` : "0/0";
  }

  // Measures the width of a character and of the view.
  measure() {
    const ruler = el("code", {className: "ruler"}, "0".repeat(100));
    document.body.append(ruler);
    this.character = ruler.getBoundingClientRect().width / 100;
    ruler.remove();
    this.pageWidth = $("code").clientWidth;
  }

  // Returns how many characters of a line fit; page.css defines the columns beside it.
  fit() {
    const {sides = 1, texts = []} = this.model || {};
    const digits = Math.max(3, ...texts.map((text) => String(this.texts.get(text).lines.length).length));
    const beside = (digits + (this.outputs ? 2 + 7 * this.outputs.length : 7)) * this.character + 14 + 1 + 4;
    $("code").classList.toggle("outputs", this.outputs !== null);
    $("code").style.setProperty("--outputs", this.outputs ? this.outputs.length : 0);
    this.columns = Math.max(20, Math.floor((this.pageWidth / sides - beside) / this.character));
    $("code").style.setProperty("--digits", digits);
    $("code").dataset.sides = sides;
    $("code").classList.toggle("wrap", this.wrap);
  }

  hang(line, columns) {
    const indent = line.length - line.trimStart().length;
    return Math.min(indent + 4, columns >> 1);
  }

  // Returns where a long line is broken: after a blank if one is near, else after a comma or a bracket.
  breaks(line) {
    const {columns} = this;
    if (!this.wrap || line.length <= columns) return [];
    const found = [];
    const rest = columns - this.hang(line, columns);
    let start = 0;
    for (let width = columns; line.length - start > width; width = rest) {
      const least = start + width * 0.6;
      const last = (characters) => {
        let at = start + width;
        while (at > least && !characters.includes(line[at - 1])) at--;
        return at > least ? at : 0;
      };
      const at = last(" ") || last(",<({[") || start + width;
      found.push(at);
      start = at;
    }
    return found;
  }

  // Returns a function for the height of an item.
  heights() {
    if (!this.wrap || !this.model) return (item) => (Array.isArray(item) ? FOLD_HEIGHT : LINE_HEIGHT);
    const {rows: {left, right}, texts, sides} = this.model;
    const [before, after] = texts.map((text) => this.texts.get(text).lines);
    const {columns} = this;
    const breaks = (lines, place) => (place >= 0 && lines[place].length > columns ? this.breaks(lines[place]).length : 0);
    return (item) => {
      if (Array.isArray(item)) return FOLD_HEIGHT;
      const most = Math.max(breaks(after, right[item]), sides === 2 ? breaks(before, left[item]) : 0);
      return (most + 1) * LINE_HEIGHT;
    };
  }

  layAcross() {
    let longest = 0;
    if (this.model && !this.wrap) {
      for (const text of this.model.texts) {
        for (const line of this.texts.get(text).lines) longest = Math.max(longest, line.length);
      }
    }
    const room = this.columns;
    const needed = longest > room;
    $("across").hidden = !needed;
    $("across").firstElementChild.style.width = `${$("code").clientWidth + (longest - room + 2) * this.character}px`;
  }

  makeRow(item, index) {
    if (Array.isArray(item)) {
      const [row, count] = item;
      const fold = el("button", {type: "button", className: "fold"}, el("span", {}, "⋯"), ` ${counted(count, "unchanged line")} `);
      const renamed = this.model.rows.kind.subarray(row, row + count).reduce((sum, how) => sum + (how === RENAMED), 0);
      if (renamed) fold.append(el("span", {className: "renamed"}, `${renamed} renumbered`));
      fold.addEventListener("click", () => {
        this.opened.add(row);
        const top = $("code").scrollTop;
        this.lay();
        $("code").scrollTop = top;
        this.code.draw(true);
      });
      return fold;
    }
    const {rows, sides} = this.model;
    const how = rows.kind[item];
    const row = el("div", {className: "row"});
    const [left, right] = [rows.left[item], rows.right[item]];
    if (sides === 1) {
      row.append(...this.makeSide("same", right, 1, item));
      if (this.outputs) {
        row.classList.toggle("selected", this.python !== null && this.python.file === this.data.file && this.python.line === item + 1);
        row.querySelector(".from").replaceWith(...this.outputs.map((output) => this.makeCount(output, item + 1)));
      }
      return row;
    }
    let marks = [[], []];
    let kinds = ["same", "same"];
    if (how === CHANGED || how === RENAMED) {
      kinds = how === RENAMED ? ["renamed", "renamed"] : ["removed", "added"];
      marks = how === RENAMED ? this.renamings(left, right) : this.differences(left, right, LEAST_ALIKE);
    } else if (how === REPLACED) {
      kinds = [
        left < 0 ? "none" : rows.movedTo[left] >= 0 ? "moved" : "removed",
        right < 0 ? "none" : rows.movedFrom[right] >= 0 ? "moved" : "added",
      ];
      if (kinds[0] === "removed" && kinds[1] === "added") marks = this.differences(left, right, MOST_LIKELY);
    }
    row.append(...this.makeSide(kinds[0], left, 0, item, marks[0]), ...this.makeSide(kinds[1], right, 1, item, marks[1]));
    if (this.hunks[this.hunk] === index) row.classList.add("current");
    return row;
  }

  // Returns marks for the words that differ between two lines; none if their common share is below `least`.
  differences(left, right, least) {
    const [removed, added, alike] = compareWords(...this.linesAt(left, right));
    if (alike < least) return [[], []];
    return [removed.map((range) => [...range, "word removed"]), added.map((range) => [...range, "word added"])];
  }

  // Returns marks for the names that differ between two lines which differ only in names.
  renamings(left, right) {
    const names = this.linesAt(left, right).map((line) => [...line.matchAll(NAME)]);
    return names.map((list, side) => list.flatMap(({0: name, index}, i) =>
      (name === names[1 - side][i][0] ? [] : [[index, index + name.length, "word renamed"]])));
  }

  linesAt(left, right) {
    return [left, right].map((place, side) => this.texts.get(this.model.texts[side]).lines[place]);
  }

  // Returns a link that shows how many lines of an output come from a line.
  makeCount({entry, counts, most}, line) {
    const count = counts.get(line);
    if (!count) return el("span", {className: "count"});
    const name = entry.stage ? entry.stage.name : "SASS";
    const title = `${counted(count, "line")} of ${name}`;
    const cell = el("button", {type: "button", className: "count", tabIndex: -1, title, "aria-label": title}, String(count));
    cell.style.setProperty("--share", count / most);
    cell.addEventListener("click", () => {
      this.open(entry, {push: true});
      this.selectPython(this.data.file, line);
      this.showFirstFrom();
    });
    return cell;
  }

  // Returns the cells of one line: its number, the place that it comes from, a sign and the text.
  makeSide(kind, place, side, item, marks = []) {
    if (kind === null || place < 0) {
      return ["number", "from", "sign"].map((name) => el("span", {className: `${name} ${kind || ""}`})).concat(el("code", {className: kind || ""}));
    }
    const index = this.model.texts[side];
    const text = this.texts.get(index);
    const line = text.lines[place];
    const chain = text.chains[place];
    const state = this.python ? this.hits[chain] : 0;
    const also = `${kind}${state === 2 ? " hit" : state === 1 ? " via" : ""}`;
    const sign = kind === "removed" ? "−" : kind === "added" ? "+" : kind === "moved" ? (side === 0 ? "↓" : "↑") : kind === "renamed" ? "≈" : "";
    const from = el("span", {className: `from ${also}`});
    const frame = this.data.chains[chain][this.data.shown[chain]];
    if (frame) {
      const [file, number] = frame;
      const link = el("button", {type: "button", tabIndex: -1, title: this.chainText(chain), "aria-label": `Python line ${number} of ${baseName(this.data.files[file][0])}`}, String(number));
      link.style.setProperty("--hue", (number * 67) % 360);
      if (file !== this.data.file) link.classList.add("far");
      link.dataset.chain = chain;
      from.append(link);
    }
    const code = el("code", {className: also});
    if (kind === "moved") {
      const other = (side === 0 ? this.model.rows.movedTo : this.model.rows.movedFrom)[place];
      code.title = side === 0 ? `moved to line ${other + 1}` : `moved from line ${other + 1}`;
    }
    if (this.wrap) {
      const hang = this.hang(line, this.columns);
      code.style.paddingLeft = `calc(${hang}ch + 2px)`;
      code.style.textIndent = `-${hang}ch`;
    }
    const inner = el("span", {className: "in"});
    appendColoured(inner, line, this.texts.tokens(index, place, this.model.language), this.allMarks(line, side, marks), this.breaks(line));
    code.append(inner);
    code.dataset.side = side;
    code.dataset.chain = chain;
    return [el("span", {className: `number ${also}`}, String(place + 1)), from, el("span", {className: `sign ${also}`}, sign), code];
  }

  // Returns the marks of a line: differences, search results, and uses of the marked value; they may overlap.
  allMarks(line, side, marks) {
    const all = [...marks];
    if (this.needle) {
      const lower = line.toLowerCase();
      for (let at = lower.indexOf(this.needle); at >= 0; at = lower.indexOf(this.needle, at + this.needle.length)) {
        all.push([at, at + this.needle.length, "found"]);
      }
    }
    if (this.value && (this.model.sides === 1 || this.value.side === side)) {
      for (const match of line.matchAll(/[%@^#][\w$.-]+/g)) {
        if (match[0] === this.value.name) all.push([match.index, match.index + match[0].length, "use"]);
      }
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

  showHunk(index) {
    if (!this.hunks.length) return;
    this.hunk = Math.min(Math.max(index, 0), this.hunks.length - 1);
    this.nameHunk();
    this.code.show(this.hunks[this.hunk], 0.25);
    this.code.refresh();
  }

  stepHunk(by) {
    if (!this.hunks.length) return;
    const onScreen = this.code.isVisible(this.hunks[this.hunk]);
    if (onScreen) {
      this.showHunk(this.hunk + by);
      return;
    }
    // After scrolling away, the next one is counted from the rows on the screen.
    const top = this.code.top;
    const next = this.hunks.findIndex((item) => item >= top);
    this.showHunk(by > 0 ? (next < 0 ? this.hunks.length - 1 : next) : (next < 0 ? this.hunks.length : next) - 1);
  }

  // Lays out again, and keeps the row at the top of the screen in its place.
  layAgain() {
    const top = this.items[this.code.top];
    const row = Array.isArray(top) ? top[0] : top;
    this.lay();
    const at = this.items.findIndex((item) => (Array.isArray(item) ? item[0] + item[1] > row : item >= row));
    if (this.hunk >= this.hunks.length) this.hunk = 0;
    this.nameHunk();
    if ($("code").scrollTop > 0 && at >= 0) this.code.show(at, 0);
    this.code.refresh();
  }

  // Searching in the IR

  search(move, by = 1) {
    this.needle = $("find").value.toLowerCase();
    if (!this.needle || !this.model) {
      $("found").textContent = "";
      this.code.refresh();
      return;
    }
    const {rows, texts, sides} = this.model;
    const places = [];
    for (let row = 0; row < rows.kind.length; row++) {
      const has = [rows.left[row], rows.right[row]].some((place, side) =>
        place >= 0 && (sides === 2 || side === 1) && this.texts.get(texts[side]).lines[place].toLowerCase().includes(this.needle));
      if (has) places.push(row);
    }
    const current = this.foundRow === undefined ? -1 : this.foundRow;
    let at = by > 0 ? places.findIndex((row) => row > current) : places.length - 1 - [...places].reverse().findIndex((row) => row < current);
    if (at < 0 || at >= places.length) at = by > 0 ? 0 : places.length - 1;
    if (move && places.length) {
      this.foundRow = places[at];
      this.showRow(this.foundRow);
    }
    const shown = places.indexOf(this.foundRow);
    $("found").textContent = places.length ? `${shown >= 0 ? `${shown + 1}/` : ""}${counted(places.length, "line")}` : "not found";
    this.code.refresh();
  }

  // Scrolls to a row of the model, and opens the fold that it is in.
  showRow(row) {
    const holds = (item) => (Array.isArray(item) ? item[0] <= row && row < item[0] + item[1] : item === row);
    let at = this.items.findIndex(holds);
    if (at >= 0 && Array.isArray(this.items[at])) {
      this.opened.add(this.items[at][0]);
      this.lay();
      at = this.items.indexOf(row);
    }
    if (!this.code.isVisible(at)) this.code.show(at, 0.4);
  }

  // Python

  chainText(chain) {
    return this.data.chains[chain].map(([file, line, column], i) =>
      `${i ? "inlined at " : ""}${baseName(this.data.files[file][0])}:${line}${column ? `:${column}` : ""}`).join("\n");
  }

  makeSources() {
    this.data.files.forEach(([path, text], index) => {
      if (text !== null) $("source-file").append(el("option", {value: String(index), title: path}, path));
    });
    this.pythonFile = this.data.file !== null && this.data.files[this.data.file][1] !== null
      ? this.data.file : this.data.files.findIndex(([, text]) => text !== null);
    this.hits = new Uint8Array(this.data.chains.length);
    $("source").hidden = $("source-splitter").hidden = !this.sourceOpen;
    $("source-button").disabled = this.pythonFile < 0;
    const first = Math.min(...this.data.chains.flat().filter(([file]) => file === this.pythonFile).map(([, line]) => line));
    this.firstLine = Number.isFinite(first) ? first : 1;
  }

  // Whether a row comes from the selected Python line.
  isFrom(row) {
    const {rows, texts, sides} = this.model;
    return [rows.left[row], rows.right[row]].some((place, side) =>
      place >= 0 && (sides === 2 || side === 1) && this.hits[this.texts.get(texts[side]).chains[place]] === 2);
  }

  // Selects a Python line; `chain` tells how the IR line that was clicked came there.
  selectPython(file, line, {chain = null, fromSource = false} = {}) {
    const same = this.python && this.python.file === file && this.python.line === line;
    this.python = line === null || (same && fromSource) ? null : {file, line, chain};
    this.hits = Uint8Array.from(this.data.chains, (frames, index) => {
      if (!this.python) return 0;
      const shown = frames[this.data.shown[index]];
      if (shown && shown[0] === file && shown[1] === line) return 2;
      return frames.some((frame) => frame[0] === file && frame[1] === line) ? 1 : 0;
    });
    if (this.python) this.pythonFile = file;
    this.nameChain();
    if (this.model && this.model.sides === 2) this.layAgain();
    else this.code.refresh();
    this.countLines();
    this.layPython(!fromSource);
    if (fromSource && this.python) this.showFirstFrom();
    this.writeHash(false);
  }

  nameChain() {
    const parts = [];
    const chain = this.python && this.python.chain;
    if (chain !== null && this.data.chains[chain].length > 1) {
      this.data.chains[chain].forEach(([file, line], i) => {
        const link = el("button", {type: "button"}, `${baseName(this.data.files[file][0])}:${line}`);
        link.addEventListener("click", () => this.selectPython(file, line, {chain}));
        if (file === this.python.file && line === this.python.line) link.classList.add("here");
        parts.push(i ? " inlined at " : "", link);
      });
    }
    $("source-chain").replaceChildren(...parts);
  }

  showFirstFrom() {
    const rows = [];
    for (let at = 0; at < this.items.length; at++) {
      if (!Array.isArray(this.items[at]) && this.isFrom(this.items[at])) rows.push(at);
    }
    if (rows.length && !rows.some((at) => this.code.isVisible(at))) this.code.show(rows[0], 0.3);
    this.code.refresh();
  }

  // Counts how many lines of the shown IR come from each Python line.
  countLines() {
    this.perLine = this.model && !this.outputs ? this.countFrom(this.model.texts[1], this.pythonFile) : new Map();
  }

  layPython(move = true) {
    const usable = this.sourceOpen && this.pythonFile >= 0 && this.entry.kind !== "source";
    $("source").hidden = $("source-splitter").hidden = !usable;
    $("source-button").setAttribute("aria-pressed", this.sourceOpen);
    if (!usable) return;
    $("source-file").value = String(this.pythonFile);
    const [, index] = this.data.files[this.pythonFile];
    const text = this.texts.get(index);
    const most = Math.max(1, ...this.perLine.values());
    $("python").style.setProperty("--digits", Math.max(3, String(text.lines.length).length));
    const selected = this.python && this.python.file === this.pythonFile ? this.python.line : 0;
    const total = selected ? this.perLine.get(selected) || 0 : 0;
    $("source-note").textContent = selected ? `line ${selected}: ${counted(total, "line")} of this IR` : "";
    this.lines.set(text.lines.length, () => LINE_HEIGHT, (i) => {
      const line = i + 1;
      const count = this.perLine.get(line) || 0;
      const row = el("div", {className: `python-line${line === selected ? " selected" : ""}${count ? " used" : ""}`});
      row.dataset.line = line;
      const number = el("button", {type: "button", className: "number", tabIndex: -1, "aria-label": `Line ${line}, ${counted(count, "line")} of IR`}, String(line));
      number.style.setProperty("--hue", (line * 67) % 360);
      const bar = el("span", {className: "weight", title: count ? `${counted(count, "line")} of this IR` : ""}, count ? String(count) : "");
      const fill = el("i");
      fill.style.width = `${100 * count / most}%`;
      bar.append(fill);
      const code = el("code");
      appendColoured(code, text.lines[i], this.texts.tokens(index, i, "python"));
      row.append(number, bar, code);
      return row;
    });
    const wanted = selected || (this.pythonMoved === this.pythonFile ? 0 : this.pythonFile === this.data.file ? this.firstLine : 1);
    if (wanted && move && !this.lines.isVisible(wanted - 1)) this.lines.show(wanted - 1, selected ? 0.4 : 0.05);
    this.pythonMoved = this.pythonFile;
    this.lines.draw();
  }

  // The address

  writeHash(push) {
    let hash = `#${this.entry.id.split("/").map(encodeURIComponent).join("/").replace(/%3A/g, ":")}`;
    if (this.python) hash += `;py=${this.python.file === this.data.file ? "" : `${this.python.file}:`}${this.python.line}`;
    if (hash === location.hash) return;
    history[push ? "pushState" : "replaceState"](null, "", hash);
  }

  fromHash() {
    const [path, ...more] = location.hash.slice(1).split(";");
    let id = "";
    try {
      id = decodeURIComponent(path);
    } catch {
      return null;
    }
    const python = /^py=(?:(\d+):)?(\d+)$/.exec(more[0] || "");
    const file = python && python[1] !== undefined ? Number(python[1]) : this.data.file;
    if (python && file !== null && this.data.files[file]) {
      this.python = {file, line: Number(python[2]), chain: null};
      this.pythonFile = this.data.files[file][1] === null ? this.pythonFile : file;
      this.hits = Uint8Array.from(this.data.chains, (frames, index) => {
        const shown = frames[this.data.shown[index]];
        return shown && shown[0] === file && shown[1] === this.python.line ? 2 : frames.some((f) => f[0] === file && f[1] === this.python.line) ? 1 : 0;
      });
    }
    return this.entries.find((entry) => entry.id === id) || null;
  }

  // What the user does

  toggle(name) {
    const apply = {
      "changed-only": () => { this.changedOnly = !this.changedOnly; this.filter(); },
      wrap: () => { this.wrap = !this.wrap; $("code").style.setProperty("--x", "0px"); this.layAgain(); },
      unfold: () => { this.unfold = !this.unfold; this.opened.clear(); this.layAgain(); },
      renamed: () => { this.showRenamed = !this.showRenamed; this.layAgain(); },
      "source-button": () => { this.sourceOpen = !this.sourceOpen; this.layPython(); this.code.draw(true); },
    };
    apply[name]();
    for (const [id, on] of [["wrap", this.wrap], ["unfold", this.unfold], ["renamed", this.showRenamed]]) $(id).setAttribute("aria-pressed", on);
  }

  listen() {
    for (const id of ["changed-only", "wrap", "unfold", "renamed", "source-button"]) $(id).addEventListener("click", () => this.toggle(id));
    $("source-close").addEventListener("click", () => this.toggle("source-button"));
    $("previous-hunk").addEventListener("click", () => this.stepHunk(-1));
    $("next-hunk").addEventListener("click", () => this.stepHunk(1));
    $("help-button").addEventListener("click", () => $("help").showModal());
    $("help").addEventListener("click", (event) => { if (event.target === $("help")) $("help").close(); });
    $("passes").addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.open(option.entry, {push: true});
    });
    $("filter").addEventListener("input", () => this.filter());
    $("find").addEventListener("input", () => { this.foundRow = undefined; this.search(true); });
    $("source-file").addEventListener("change", () => {
      this.pythonFile = Number($("source-file").value);
      this.countLines();
      this.layPython();
    });
    $("code").addEventListener("click", (event) => {
      const link = event.target.closest(".from button");
      if (link) {
        const chain = Number(link.dataset.chain);
        const [file, line] = this.data.chains[chain][this.data.shown[chain]];
        if (this.data.files[file][1] === null) return;
        if (!this.sourceOpen) this.toggle("source-button");
        this.selectPython(file, line, {chain});
        return;
      }
      const value = event.target.closest(".v, .f, .l, .a");
      const code = event.target.closest("code");
      if (value && code && String(getSelection()) === "") {
        // A mark may split a name into two nodes, so the name is read from the text of the whole line.
        const name = this.nameAt(code, value);
        const side = Number(code.dataset.side);
        this.showLayout(name, code, value, side);
        this.value = name && !(this.value && this.value.name === name) ? {name, side} : null;
        this.code.refresh();
      }
    });
    $("code").addEventListener("pointerdown", (event) => {
      const code = event.target.closest("code");
      $("code").dataset.selecting = code ? code.dataset.side : "";
    });
    addEventListener("copy", (event) => this.copyLines(event));
    $("python").addEventListener("click", (event) => {
      const row = event.target.closest(".python-line");
      if (row && String(getSelection()) === "") this.selectPython(this.pythonFile, Number(row.dataset.line), {fromSource: true});
    });
    for (const [scroller, find] of [["code", (target) => this.lineOf(target)], ["python", (target) => Number(target.closest(".python-line")?.dataset.line)]]) {
      $(scroller).addEventListener("mouseover", (event) => this.hover(find(event.target) || 0));
      $(scroller).addEventListener("mouseleave", () => this.hover(0));
    }
    $("across").addEventListener("scroll", () => $("code").style.setProperty("--x", `${-$("across").scrollLeft}px`));
    $("code").addEventListener("wheel", (event) => {
      const by = event.deltaX || (event.shiftKey ? event.deltaY : 0);
      if (!by || this.wrap) return;
      $("across").scrollLeft += by;
      event.preventDefault();
    }, {passive: false});
    this.split("side-splitter", "--side", () => $("side").clientWidth, "clientX", 1, [220, 900]);
    this.split("source-splitter", "--source", () => $("source").clientHeight, "clientY", -1, [60, 900]);
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => this.goToHash());
    addEventListener("popstate", () => this.goToHash());
    new ResizeObserver(() => {
      if (this.entry && $("code").clientWidth !== this.pageWidth) {
        this.measure();
        this.layAgain();
      } else {
        this.code.draw();
      }
      this.lines.draw();
    }).observe($("code"));
  }

  goToHash() {
    const python = this.python;
    const entry = this.fromHash();
    if (entry && (entry !== this.entry || python !== this.python)) this.open(entry);
  }

  // Returns the Python line that is shown for the IR line under `target`.
  lineOf(target) {
    const chain = Number(target.closest("[data-chain]")?.dataset.chain || 0);
    const frame = this.data.chains[chain][this.data.shown[chain]];
    return frame && frame[0] === this.pythonFile ? frame[1] : 0;
  }

  hover(line) {
    if (line === this.hovered) return;
    this.hovered = line;
    for (const row of $("python").querySelectorAll(".python-line")) row.classList.toggle("hover", line > 0 && Number(row.dataset.line) === line);
    for (const link of $("code").querySelectorAll(".from button")) link.classList.toggle("hover", line > 0 && this.lineOf(link) === line);
  }

  // Shows the picture of a layout whose name was clicked, or hides the last one.
  showLayout(name, code, span, side) {
    const names = this.data.layouts[this.model.texts[side]];
    const line = code.textContent;
    const before = document.createRange();
    before.setStart(code, 0);
    before.setEndBefore(span);
    const index = name === null ? -1 : line.indexOf(name, Math.max(0, before.toString().length - name.length));
    const number = name === null || !name.startsWith("#") ? null : drawingOf(names, name, line, index);
    if (number === null) hideLayout();
    else showLayout(this.data.drawings[number], name);
  }

  nameAt(code, span) {
    let before = 0;
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && !span.contains(walker.currentNode)) before += walker.currentNode.length;
    for (const match of code.textContent.matchAll(/[%@^#][\w$.-]+/g)) {
      if (match.index <= before && before < match.index + match[0].length) return match[0];
    }
    return null;
  }

  // Makes a bar between two parts that can be dragged, or moved with the arrow keys.
  split(id, property, size, coordinate, sign, [least, most]) {
    const bar = $(id);
    const apply = (value) => document.body.style.setProperty(property, `${Math.min(most, Math.max(least, value))}px`);
    bar.addEventListener("pointerdown", (down) => {
      const start = size();
      bar.setPointerCapture(down.pointerId);
      const move = (event) => apply(start + sign * (event[coordinate] - down[coordinate]));
      bar.addEventListener("pointermove", move);
      bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", move), {once: true});
    });
    bar.addEventListener("keydown", (event) => {
      const by = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1}[event.key];
      if (!by) return;
      apply(size() + sign * by * 20);
      event.preventDefault();
      event.stopPropagation();
    });
  }

  key(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "f" && document.activeElement !== $("find")) {
      $("find").focus();
      $("find").select();
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const {activeElement} = document;
    if (event.key === "Escape") {
      this.escape(activeElement);
      return;
    }
    if (activeElement instanceof HTMLInputElement) {
      if (activeElement === $("find") && event.key === "Enter") {
        this.search(true, event.shiftKey ? -1 : 1);
      } else if (activeElement === $("filter") && (event.key === "Enter" || event.key === "ArrowDown")) {
        $("passes").focus();
        const [first] = this.shown.filter((entry) => entry.kind === "pass");
        if (first && !this.shown.includes(this.entry)) this.open(first);
        event.preventDefault();
      }
      return;
    }
    if (activeElement instanceof HTMLSelectElement) return;
    const inText = activeElement && activeElement.classList.contains("scroll");
    if (inText && ["ArrowDown", "ArrowUp"].includes(event.key)) return; // they scroll
    const actions = {
      j: () => this.step(1),
      k: () => this.step(-1),
      ArrowDown: () => this.step(1),
      ArrowUp: () => this.step(-1),
      "]": () => this.step(1, ["stage", "source", "sass"]),
      "[": () => this.step(-1, ["stage", "source", "sass"]),
      n: () => this.stepHunk(1),
      p: () => this.stepHunk(-1),
      f: () => this.toggle("changed-only"),
      e: () => this.toggle("unfold"),
      r: () => this.toggle("renamed"),
      w: () => this.toggle("wrap"),
      s: () => this.toggle("source-button"),
      c: () => this.copy(),
      "/": () => { $("filter").focus(); $("filter").select(); },
      "?": () => $("help").showModal(),
    };
    if (activeElement === $("passes")) {
      actions.Home = () => this.open(this.shown[0]);
      actions.End = () => this.open(this.shown[this.shown.length - 1]);
    }
    if (Object.hasOwn(actions, event.key)) {
      actions[event.key]();
      event.preventDefault();
    }
  }

  // Clears one thing: the text in the focused field, else the search, the mark, the selection or the filters.
  escape(active) {
    if (active === $("filter") || active === $("find")) {
      if (active.value) {
        active.value = "";
        active.dispatchEvent(new Event("input"));
      } else {
        $("passes").focus();
      }
    } else if (hideLayout()) {
      $("code").focus();
    } else if (this.needle) {
      $("find").value = "";
      this.search(false);
    } else if (this.value) {
      this.value = null;
      this.code.refresh();
    } else if (this.python) {
      this.selectPython(null, null);
    } else if ($("filter").value || this.changedOnly) {
      $("filter").value = "";
      this.changedOnly = false;
      this.filter();
    } else {
      $("passes").focus();
    }
  }
}

readData().then((data) => { globalThis.page = new Page(data); }, (error) => {
  document.body.replaceChildren(el("p", {className: "failed"}, `This page could not be read: ${error.message}`));
});
