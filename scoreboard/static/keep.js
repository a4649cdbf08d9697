// The console's evidence: a still on each card, the viewer, and the button that keeps a clip from making room for newer ones.

import { Evidence, Viewer } from "./evidence.js";
import { send } from "./send.js";
import { text } from "./table.js";

const part = (name, root = document) => root.querySelector(`[data-part="${name}"]`);

export class Keep {
  constructor(slots) {
    this.slots = slots;
    this.stills = slots.map((slot) => new Evidence(part("evidence", slot)));
    this.entries = {};
    this.viewer = new Viewer(part("viewer"), { onOpen: () => this.say() });
    this.button = part("viewer-keep");
    this.button.addEventListener("click", () => send("/judge/command", { command: "keep_evidence", evidence: this.viewer.name, keep: !this.kept().length }));
  }

  show(view) {
    this.entries = view.entries;
    this.place();
    this.say();
  }

  // Cards move down when a new one comes.
  place() {
    this.slots.forEach((slot, n) => this.stills[n].show(this.entries[slot.dataset.entry] ?? null));
  }

  kept() {
    return Object.values(this.entries).find((item) => item.name && item.name === this.viewer.name)?.kept ?? [];
  }

  say() {
    text(part("viewer-kept"), this.kept().join(", "));
    text(this.button, this.kept().length ? this.button.dataset.wordNoMore : this.button.dataset.wordKeep);
  }
}
