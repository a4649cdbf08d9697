// A clip that is looked at closely: any frame by its own time, quarter speed, all by keys. No imports: it also goes into saved files.

export class Player {
  constructor(root) {
    this.root = root;
    this.video = root.querySelector("video");
    this.seek = root.querySelector('[data-part="seek"]');
    this.where = root.querySelector('[data-part="where"]');
    this.slow = root.querySelector('[data-do="quarter"]');
    this.times = [];
    this.moment = 0;
    this.index = 0;
    root.addEventListener("click", (event) => this.do(event.target.closest("[data-do]")?.dataset.do));
    this.seek.addEventListener("input", () => this.go(Number(this.seek.value)));
    this.video.addEventListener("play", () => this.follow());
    this.video.addEventListener("pause", () => this.go(this.nearest(this.video.currentTime)));
    this.video.addEventListener("loadedmetadata", () => this.go(this.moment));
  }

  show(film, source) {
    this.times = film.times_us.map((us) => us / 1e6);
    this.moment = film.moment;
    this.seek.max = String(Math.max(this.times.length - 1, 0));
    this.index = this.moment;
    if (film.width) this.video.style.aspectRatio = `${film.width} / ${film.height}`;
    this.rate(0.25);
    if (source) this.video.src = source;
    if (this.video.readyState >= 1) this.go(this.moment);
    else this.say();
  }

  hide() {
    this.video.pause();
    this.video.removeAttribute("src");
    this.video.load();
  }

  do(what) {
    if (what === "play") this.playOrPause();
    if (what === "quarter") this.rate(this.video.playbackRate === 0.25 ? 1 : 0.25);
    if (what === "back") this.go(this.index - 1);
    if (what === "on") this.go(this.index + 1);
    if (what === "moment") this.go(this.moment);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const onButton = event.target.closest?.("button, a, summary, input:not([type=range]), select, textarea");
    const what = { " ": onButton ? "" : "play", k: "play", q: "quarter", m: "moment", ArrowLeft: "back", ArrowRight: "on", ",": "back", ".": "on" }[event.key];
    if (!what) return;
    event.preventDefault();
    this.do(what);
  }

  playOrPause() {
    if (!this.video.paused) {
      this.video.pause();
      return;
    }
    if (this.index >= this.times.length - 1) this.go(0);
    this.video.play();
  }

  rate(speed) {
    this.video.defaultPlaybackRate = this.video.playbackRate = speed;
    this.slow.setAttribute("aria-pressed", String(speed === 0.25));
  }

  // Into the middle of a frame: its first instant may be rounded into the one before.
  go(index) {
    this.video.pause();
    this.index = Math.min(Math.max(index, 0), Math.max(this.times.length - 1, 0));
    const start = this.times[this.index] ?? 0;
    const next = this.times[this.index + 1] ?? start + 0.01;
    const middle = (start + next) / 2;
    if (Math.abs(this.video.currentTime - middle) > 1e-4) this.video.currentTime = middle;
    this.say();
  }

  nearest(time) {
    let low = 0;
    let high = this.times.length - 1;
    while (low < high) {
      const half = Math.ceil((low + high) / 2);
      if (this.times[half] <= time + 1e-4) low = half;
      else high = half - 1;
    }
    return Math.max(low, 0);
  }

  // Only while it plays; a paused clip asks for nothing.
  follow() {
    if (this.video.paused || this.video.ended) return;
    this.index = this.nearest(this.video.currentTime);
    this.say();
    const again = () => this.follow();
    if (this.video.requestVideoFrameCallback) this.video.requestVideoFrameCallback(again);
    else setTimeout(again, 40);
  }

  say() {
    const off = (this.times[this.index] ?? 0) - (this.times[this.moment] ?? 0);
    const sign = off < 0 ? "\u2212" : "+";
    const said = `${this.index + 1} / ${this.times.length} · ${sign}${Math.abs(off).toFixed(3)} s`;
    this.seek.value = String(this.index);
    this.seek.setAttribute("aria-valuetext", said);
    this.where.textContent = said;
    this.root.toggleAttribute("data-at-moment", this.index === this.moment);
  }
}
