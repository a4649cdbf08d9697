// The still beside a ruling, its clip once in slow motion when it is new, and the viewer that opens on it. Nodes are only filled.

import { Player } from "./player.js";
import { set, text } from "./table.js";

const AROUND_S = 0.75; // of the clip before and after the moment that is shown by itself
const SLOW = 0.25;
const part = (name, root = document) => root.querySelector(`[data-part="${name}"]`);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Evidence {
  constructor(root, { replays = false } = {}) {
    this.root = root;
    this.replays = replays;
    this.name = undefined;
    this.clip = part("evidence-clip", root);
    if (!this.clip) return;
    this.clip.addEventListener("timeupdate", () => this.clip.currentTime > this.until && this.stop());
    this.clip.addEventListener("ended", () => this.stop());
    this.clip.addEventListener("error", () => this.stop());
  }

  show(item) {
    const link = part("evidence-link", this.root);
    const isNew = this.name !== undefined && item?.name && item.name !== this.name && item.page;
    this.root.hidden = !item || !(item.page || item.why);
    link.hidden = !item?.page;
    text(part("evidence-why", this.root), item?.why || item?.kept.join(", "));
    if (item?.page) {
      set(link, "href", item.page);
      set(link, "data-kept", String(item.kept.length > 0));
      set(part("evidence-still", this.root), "src", item.still);
    }
    if (item?.page || !item?.name) this.name = item?.name ?? "";
    if (this.clip && isNew && this.replays && !calm.matches) this.replay(item);
    else if (this.clip && !item?.page) this.stop();
  }

  replay(item) {
    this.until = item.moment_s + AROUND_S;
    this.clip.src = item.clip;
    this.clip.currentTime = Math.max(item.moment_s - AROUND_S, 0);
    this.clip.defaultPlaybackRate = this.clip.playbackRate = SLOW;
    this.clip.play().then(() => { this.clip.hidden = false; }, () => this.stop());
  }

  stop() {
    this.clip.hidden = true;
    if (!this.clip.hasAttribute("src")) return;
    this.clip.removeAttribute("src");
    this.clip.load();
  }
}

export class Viewer {
  constructor(dialog, { onOpen = () => {} } = {}) {
    this.dialog = dialog;
    this.player = new Player(part("player", dialog));
    this.still = part("viewer-still", dialog);
    this.onOpen = onOpen;
    this.name = "";
    document.addEventListener("click", (event) => {
      const link = event.target.closest('[data-part="evidence-link"]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.open(link);
    });
    dialog.addEventListener("keydown", (event) => this.player.key(event));
    dialog.addEventListener("close", () => this.player.hide());
    part("viewer-close", dialog).addEventListener("click", () => dialog.close());
  }

  async open(link) {
    const address = link.getAttribute("href").split("?")[0];
    let film;
    try {
      const response = await fetch(`${address}/film.json`);
      film = await response.json();
      if (!response.ok) throw new Error(response.status);
    } catch {
      location.assign(link.href);
      return;
    }
    this.name = film.name;
    set(this.still, "src", `${address}/still.jpg`);
    set(part("viewer-still-link", this.dialog), "href", `${address}/still.jpg`);
    set(part("viewer-page", this.dialog), "href", link.href);
    set(part("viewer-save", this.dialog), "href", link.href.replace("?", "/export.html?"));
    this.onOpen(this.name, link);
    this.dialog.showModal();
    this.player.show(film, `${address}/${film.file}`);
  }
}
