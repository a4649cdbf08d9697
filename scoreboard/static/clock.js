// A clock that a judge has started: counted on here from what the server said was left; the text changes once a second and only while it runs.

import { set, text } from "./table.js";

const TICK_MS = 200;
const LATE_S = 5; // the last seconds stand out

export class Clock {
  constructor(node) {
    this.node = node;
    this.timer = 0;
  }

  show(view) {
    clearInterval(this.timer);
    this.node.hidden = !view.run;
    if (!view.run) return;
    text(this.node.querySelector('[data-part="clock-what"]'), view.what);
    this.endsAt = performance.now() + view.left_s * 1000;
    this.tick();
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  tick() {
    const left = Math.ceil((this.endsAt - performance.now()) / 1000);
    const s = Math.abs(left);
    text(this.node.querySelector('[data-part="clock-left"]'), `${left < 0 ? "+" : ""}${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`);
    set(this.node, "data-late", left <= 0 ? "over" : left <= LATE_S ? "soon" : "no");
  }
}
