// SPDX-License-Identifier: Apache-2.0
//
// The data of the page: texts, put together when they are asked for, where their
// lines come from, and the entries of the list. Helpers for making elements.

"use strict";

const $ = (id) => document.getElementById(id);

// An element with properties, attributes and children; strings become text.
function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

const button = (properties, ...children) => el("button", {type: "button", ...properties}, ...children);
const milliseconds = (seconds) => (seconds * 1000).toFixed(2);
const duration = (seconds) => (seconds >= 1 ? `${seconds.toFixed(2)} s` : `${milliseconds(seconds)} ms`);
const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "");
const counted = (number, one, several = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);
const hueOf = (line) => (line * 67) % 360; // neighbours get colours that are far apart

async function readData() {
  const bytes = Uint8Array.from(atob($("data").textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

class Trace {
  constructor(data) {
    this.data = data;
    this.made = new Map();
    this.compared = new Map();
    this.coloured = new Map();
    this.facts = new LineFacts(data.lines);
    this.entries = makeEntries(data);
  }

  // A text: its lines, the numbers of the lines, and of each line the number of its chain.
  text(index) {
    if (!this.made.has(index)) {
      const {texts, entries: [lineOf, chainOf], lines} = this.data;
      const runs = texts[index];
      const ids = [];
      const chains = [];
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
    if (!this.compared.has(key)) this.compared.set(key, compareTexts(this.text(before), this.text(after), this.facts));
    return this.compared.get(key);
  }

  tokens(index, line, language) {
    const {lines} = this.text(index);
    if (language !== "python") return tokensOf(lines[line], language);
    if (!this.coloured.has(index)) this.coloured.set(index, pythonTokens(lines));
    return this.coloured.get(index)[line];
  }

  // The place, [file, line, column], that a chain shows first; undefined if it has none.
  frame(chain) {
    return this.data.chains[chain][this.data.shown[chain]];
  }

  place([file, line, column]) {
    return `${baseName(this.data.files[file][0])}:${line}${column ? `:${column}` : ""}`;
  }

  // A chain as text: the place itself, then where it was inlined.
  chainText(chain) {
    return this.data.chains[chain].map((frame, i) => `${i ? "inlined at " : ""}${this.place(frame)}`).join("\n");
  }

  // How many lines of a text come from each line of a file.
  countLines(index, file) {
    const counts = new Map();
    for (const chain of this.text(index).chains) {
      const frame = this.frame(chain);
      if (frame && frame[0] === file) counts.set(frame[1], (counts.get(frame[1]) || 0) + 1);
    }
    return counts;
  }

  // For each stage's output how many of its lines come from each line of the kernel's file.
  countOutputs() {
    const found = [];
    for (const entry of this.entries) {
      const {text = null} = entry.view;
      if (text === null || entry.kind === "source") continue;
      const counts = this.countLines(text, this.data.file);
      if (counts.size) found.push({entry, counts, most: Math.max(...counts.values())});
    }
    return found;
  }
}

// The Python line that was selected, and which chains lead to it.
class Selection {
  constructor(trace) {
    this.trace = trace;
    this.clear();
  }

  clear() {
    this.file = this.line = this.chain = null;
    this.states = new Uint8Array(this.trace.data.chains.length);
  }

  // `chain` tells how the IR line that was clicked came there.
  set(file, line, chain = null) {
    Object.assign(this, {file, line, chain});
    const leads = (frame) => frame !== undefined && frame[0] === file && frame[1] === line;
    this.states = Uint8Array.from(this.trace.data.chains, (frames, index) =>
      (leads(this.trace.frame(index)) ? 2 : frames.some(leads) ? 1 : 0));
  }

  get some() {
    return this.line !== null;
  }

  is(file, line) {
    return this.file === file && this.line === line;
  }

  // Whether a chain shows the selected line (2), or leads to it by inlining (1).
  state(chain) {
    return this.states[chain];
  }
}

// What the list at the left holds, in order. `view` is what an entry shows: {text, language}, {bytes} or {before, after}.
function makeEntries(data) {
  const entries = [];
  const taken = new Set();
  const put = (entry) => {
    let {id} = entry;
    for (let number = 2; taken.has(id); number++) id = `${entry.id}~${number}`;
    taken.add(id);
    entries.push({...entry, id, index: entries.length});
  };
  const kernelText = data.file === null ? null : data.files[data.file][1];
  if (kernelText !== null) {
    put({id: "source", kind: "source", name: "Python source", stage: null, view: {text: kernelText, language: "python"}});
  }
  for (const stage of data.stages) {
    const {text, bytes, language} = stage.output;
    const output = {text, bytes, language};
    // The whole stage as one difference: to what came out or, if that is in another language, to the last module.
    const last = stage.passes.length ? stage.passes[stage.passes.length - 1].after : null;
    const after = text !== null && language === "mlir" ? text : last;
    const whole = stage.source !== null && after !== null;
    put({id: stage.name, kind: "stage", name: stage.name, stage, view: whole ? {before: stage.source, after} : output});
    stage.passes.forEach((pass, i) => {
      const several = stage.passes.filter((other) => other.name === pass.name).length > 1;
      put({
        id: `${stage.name}/${pass.name}:${pass.ordinal}`, kind: "pass", name: pass.name, ordinal: several ? `#${pass.ordinal}` : "",
        position: i + 1, stage, pass, view: {before: pass.before, after: pass.after},
      });
    });
    if (whole) put({id: `${stage.name}/output`, kind: "output", name: `${stage.name} output`, stage, view: output});
  }
  if (data.sass !== null) {
    put({id: "sass", kind: "sass", name: "SASS", stage: null, view: {text: data.sass, language: "sass"}});
  }
  return entries;
}

// How a pass fared, in a word.
const stateOf = (pass) => (!pass.ran ? "dropped" : pass.changed ? "changed" : "unchanged");

const argumentsOf = (pass) => pass.arguments.map(([name, value]) => `${name}=${value}`).join(" ");
