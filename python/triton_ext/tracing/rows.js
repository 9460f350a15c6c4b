// SPDX-License-Identifier: Apache-2.0
//
// A list of rows that has elements only for the rows on the screen. The caller gives the
// number of rows, their heights, which may differ, and a function that makes a row.

"use strict";

const MARGIN = 400; // pixels above and below the screen that are made as well

class Rows {
  // `scroller` is an element that scrolls; it gets the rows.
  constructor(scroller) {
    this.scroller = scroller;
    this.space = document.createElement("div");
    this.space.className = "space";
    this.window = document.createElement("div");
    this.window.className = "window";
    this.space.append(this.window);
    scroller.append(this.space);
    this.offsets = new Float64Array(1);
    this.first = this.last = 0;
    this.make = () => document.createElement("div");
    this.waiting = false;
    scroller.addEventListener("scroll", () => {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.draw();
      });
    }, {passive: true});
  }

  get count() {
    return this.offsets.length - 1;
  }

  // Sets the rows for the next drawing: row i of `count` is `height(i)` pixels high and made by `make(i)`.
  set(count, height, make) {
    this.make = make;
    this.offsets = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) this.offsets[i + 1] = this.offsets[i] + height(i);
    this.space.style.height = `${this.offsets[count]}px`;
    this.first = this.last = -1;
  }

  // Makes the rows on the screen again.
  refresh() {
    this.draw(true);
  }

  draw(again = false) {
    const {scrollTop, clientHeight} = this.scroller;
    const range = (margin) => [this.at(scrollTop - margin), Math.min(this.count, this.at(scrollTop + clientHeight + margin) + 1)];
    const [first, last] = range(MARGIN);
    const [firstSeen, lastSeen] = range(0);
    if (!again && firstSeen >= this.first && lastSeen <= this.last) return;
    this.first = first;
    this.last = last;
    const made = [];
    for (let i = first; i < last; i++) made.push(this.make(i));
    this.window.style.transform = `translateY(${this.offsets[first] || 0}px)`;
    this.window.replaceChildren(...made);
  }

  // Returns the row at `y` pixels from the top.
  at(y) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.offsets[middle + 1] <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Returns the first row that is completely on the screen.
  get top() {
    const {scrollTop} = this.scroller;
    const first = this.at(scrollTop);
    return Math.min(this.offsets[first] < scrollTop ? first + 1 : first, Math.max(0, this.count - 1));
  }

  isVisible(i) {
    const {scrollTop, clientHeight} = this.scroller;
    return this.offsets[i] >= scrollTop && this.offsets[i + 1] <= scrollTop + clientHeight;
  }

  // Scrolls so that row i is `share` of the way down the screen.
  show(i, share = 0.3) {
    if (i < 0 || i >= this.count) return;
    this.scroller.scrollTop = Math.max(0, this.offsets[i] - share * this.scroller.clientHeight);
    this.draw();
  }
}
