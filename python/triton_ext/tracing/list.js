// SPDX-License-Identifier: Apache-2.0
//
// The list at the left: stages, their passes and outputs, and the filters above it.

"use strict";

const MARKS = {changed: "●", unchanged: "·", dropped: "✗"};
const HEADS = ["stage", "source", "sass"]; // the kinds of entries that begin a part

class PassList {
  // `open` is called with the entry that the user goes to.
  constructor(trace, open) {
    this.entries = trace.entries;
    this.open = open;
    this.shown = []; // entries that pass the filters
    this.selected = null;
    this.changedOnly = false;
    const slowest = Math.max(...this.entries.map(({pass}) => (pass ? pass.seconds : 0)), 1e-9);
    for (const entry of this.entries) {
      const {pass} = entry;
      entry.element = pass ? this.makePass(entry, slowest) : this.makeOther(entry);
      entry.element.entry = entry;
      entry.searched = (pass
        ? [entry.name, entry.ordinal, ...pass.arguments.flat(), pass.pipeline, pass.edit || "", ...pass.remarks].join(" ")
        : entry.name).toLowerCase();
    }
    $("passes").append(...this.entries.map(({element}) => element));
    $("passes").addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.open(option.entry, {push: true});
    });
    $("filter").addEventListener("input", () => this.filter());
    this.filter();
  }

  makeOption(entry, className, label, ...cells) {
    return el("div", {
      className: `entry ${className}`, id: `entry-${entry.index}`, role: "option", "aria-selected": "false", "aria-label": label,
    }, ...cells);
  }

  makeOther(entry) {
    const {kind, name, stage, view} = entry;
    let note = "";
    if (kind === "stage") {
      const ran = stage.passes.filter((pass) => pass.ran);
      if (ran.length) note = `${ran.filter((pass) => pass.changed).length} of ${ran.length} changed`;
      else if (view.bytes) note = `${view.bytes.toLocaleString("en")} bytes`;
    }
    const label = kind === "stage" ? `stage ${name}, ${note ? `${note}, ` : ""}${duration(stage.seconds)}` : name;
    return this.makeOption(entry, kind, label,
      el("span", {className: "position"}), el("span", {className: "mark"}),
      el("span", {className: "name"}, el("b", {}, name), el("span", {className: "arguments"}, note)),
      el("span", {className: "delta"}), el("span", {className: "time"}, kind === "stage" ? milliseconds(stage.seconds) : ""));
  }

  makePass(entry, slowest) {
    const {name, ordinal, position, pass} = entry;
    const state = stateOf(pass);
    const dot = name.lastIndexOf(".") + 1;
    const delta = signed(pass.ops[1] - pass.ops[0]);
    const remarks = pass.remarks.length ? counted(pass.remarks.length, "remark") : "";
    const time = el("span", {className: "time"}, pass.ran ? milliseconds(pass.seconds) : "");
    time.style.setProperty("--share", pass.seconds / slowest);
    const label = [
      name + ordinal, state, delta && `${delta} operations`, pass.ran && `${milliseconds(pass.seconds)} ms`, pass.edit && "edit", remarks,
    ];
    const option = this.makeOption(entry, `pass ${state}`, label.filter(Boolean).join(", "),
      el("span", {className: "position"}, String(position)),
      el("span", {className: "mark"}, MARKS[state]),
      el("span", {className: "name"},
        el("span", {className: "family"}, name.slice(0, dot)), el("b", {}, name.slice(dot)), el("span", {className: "family"}, ordinal),
        pass.edit && el("span", {className: "badge edit", title: pass.edit}, "edit"),
        remarks && el("span", {className: "badge", title: remarks}, `${pass.remarks.length} ✎`),
        el("span", {className: "arguments"}, argumentsOf(pass))),
      el("span", {className: "delta"}, delta), time);
    option.title = [name, pass.pipeline, pass.edit].filter(Boolean).join("\n");
    return option;
  }

  select(entry) {
    if (this.selected) this.selected.element.setAttribute("aria-selected", "false");
    this.selected = entry;
    entry.element.setAttribute("aria-selected", "true");
    entry.element.scrollIntoView({block: "nearest"});
    $("passes").setAttribute("aria-activedescendant", entry.element.id);
  }

  get filtered() {
    return this.changedOnly || $("filter").value !== "";
  }

  unfilter() {
    this.changedOnly = false;
    $("filter").value = "";
    this.filter();
  }

  filter() {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (entry) => words.every((word) => entry.searched.includes(word));
    const passes = this.entries.filter((entry) => entry.pass && (entry.pass.changed || !this.changedOnly) && matches(entry));
    const stages = new Set(passes.map((entry) => entry.stage));
    // Stages stay while they have a pass that is left; with words, all else only if it has the words too.
    this.shown = this.entries.filter((entry) =>
      (entry.pass ? passes.includes(entry) : matches(entry) || (entry.kind === "stage" && stages.has(entry.stage))));
    const shown = new Set(this.shown);
    for (const entry of this.entries) entry.element.hidden = !shown.has(entry);
    $("changed-only").setAttribute("aria-pressed", this.changedOnly);
    $("nothing").hidden = this.shown.length > 0;
  }

  toggleChanged() {
    this.changedOnly = !this.changedOnly;
    this.filter();
  }

  // Goes to the next entry, or to the previous one; with `heads` to the next that begins a part.
  step(by, heads = false) {
    const list = heads ? this.shown.filter((entry) => HEADS.includes(entry.kind)) : this.shown;
    const at = this.selected.index;
    const next = by > 0 ? list.find((entry) => entry.index > at) : list.filter((entry) => entry.index < at).pop();
    if (next) this.open(next);
  }

  // From the filter into the list: to its first pass, unless the selected one is still there.
  enter() {
    $("passes").focus();
    const first = this.shown.find((entry) => entry.pass);
    if (first && !this.shown.includes(this.selected)) this.open(first);
  }
}
