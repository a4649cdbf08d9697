// The camera's picture with the places drawn in, for as long as the table sends one.

import { drawTargets, set, text } from "./table.js";

export class Live {
  // `always`: also while nothing is to be placed.
  constructor(node, { always = false, onShown = () => {} } = {}) {
    this.node = node;
    this.always = always;
    this.onShown = onShown;
    this.image = node.querySelector("img");
    this.marks = node.querySelector("svg");
    this.said = node.querySelector("figcaption");
    this.targets = Array.from(node.querySelectorAll("[data-target]"));
    this.places = [];
    this.view = null;
    this.coming = null;
    this.isHere = false;
    this.image.addEventListener("load", () => this.arrived());
    this.image.addEventListener("error", () => this.gone());
  }

  show(view) {
    this.view = view;
    if (!view.src) this.gone();
    else if (!this.coming && this.image.getAttribute("src") !== view.src) this.load();
  }

  // One at a time: over a slow network a newer one would end the load of each before it is there.
  load() {
    this.coming = this.view;
    this.image.src = this.view.src;
  }

  // Marks and picture change together.
  arrived() {
    if (!this.coming) return;
    const { x, y, half } = this.coming;
    set(this.marks, "viewBox", `${x - half} ${-y - half} ${2 * half} ${2 * half}`);
    // On the board it lies on the drawn table: away from what is to be seen there.
    set(this.node, "data-corner", `${y > 0 ? "S" : "N"}${x > 0 ? "W" : "E"}`);
    this.isHere = true;
    const isNewer = this.view.src !== this.coming.src;
    this.coming = null;
    this.decide();
    if (isNewer) this.load();
  }

  gone() {
    this.isHere = false;
    this.coming = null;
    this.image.removeAttribute("src");
    this.decide();
  }

  showTargets(targets, following) {
    this.places = targets;
    drawTargets(this.targets, targets);
    text(this.said, following);
    this.said.hidden = !following;
    this.decide();
  }

  decide() {
    this.node.hidden = !this.isHere || !(this.always || this.places.length);
    this.onShown(this.isHere);
  }
}
