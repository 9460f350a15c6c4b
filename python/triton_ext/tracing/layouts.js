// SPDX-License-Identifier: Apache-2.0
//
// The picture of a layout, in a panel: drawn when the name of the layout is
// clicked, from the cells that Python has computed.

"use strict";

const LAYOUT_ROW = 16;

function svgEl(tag, attributes, text = "") {
  const made = document.createElementNS($("svg").namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

// Returns the number of the drawing for a name in a line, or null. The type
// that the mouse is in says the shape; elsewhere it is that of the first type.
function drawingOf(names, name, line, index) {
  const shapes = (names || {})[name];
  if (!shapes) return null;
  const type = line.slice(0, index).match(/(?:tensor|memdesc)<((?:\d+x)+!?[\w.]+(?:<[^<>]*>)?), $/);
  return (type && shapes[type[1]]) ?? Object.values(shapes)[0];
}

function layoutPicture(drawing) {
  const left = 10 + 7 * Math.max(...drawing.rows.map((row) => row.length));
  const cell = Math.max(20, ...drawing.cells.map(([, , width, label]) => Math.ceil((label.length * 6.3 + 5) / width)));
  const width = left + drawing.columns * cell + 2;
  const height = 18 + drawing.rows.length * LAYOUT_ROW + 2;
  const picture = svgEl("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": drawing.title});
  for (let column = 0; column < drawing.columns; column++) {
    picture.append(svgEl("text", {x: left + (column + 0.5) * cell, y: 12, class: "axis"}, String(column)));
  }
  drawing.rows.forEach((name, row) => picture.append(svgEl("text", {x: left - 4, y: 30 + row * LAYOUT_ROW, class: "axis row"}, name)));
  for (const [row, column, wide, label, colour] of drawing.cells) {
    const [x, y] = [left + column * cell, 18 + row * LAYOUT_ROW];
    picture.append(svgEl("rect", {x, y, width: wide * cell, height: LAYOUT_ROW, fill: colour}));
    picture.append(svgEl("text", {x: x + (wide * cell) / 2, y: y + 12}, label));
  }
  return picture;
}

// Shows the drawing in the panel, which Escape or its button closes.
function showLayout(drawing, name) {
  const legend = drawing.legend.map(([colour, text]) => {
    const patch = el("i");
    patch.style.background = colour;
    return el("span", {}, patch, text);
  });
  const close = el("button", {type: "button", "aria-label": "Close the picture", title: "Close (Esc)"}, "×");
  close.addEventListener("click", hideLayout);
  $("layout").replaceChildren(
    el("div", {className: "head"}, el("b", {}, name), el("span", {}, drawing.title), close),
    el("p", {}, drawing.note), el("div", {className: "legend"}, ...legend),
    el("div", {className: "picture"}, layoutPicture(drawing)));
  $("layout").hidden = false;
}

// Returns whether it was open.
function hideLayout() {
  const open = !$("layout").hidden;
  $("layout").hidden = true;
  return open;
}
