// The live table: a fixed pool of drawings whose attributes are set. Discs glide from picture to picture and then stand still.

const GLIDE_MIN_MS = 60;
const GLIDE_MAX_MS = 400; // longer gaps are jumps, not motion
const JUMP_MM = 450; // further than this in one picture: another disc, or put there by hand
const STILL_MM = 0.5; // less than this is the camera's noise: set at once, nothing to watch
const FRAME_MS = 30; // 30 pictures a second look smooth and cost half of 60
const MARKS = ["", "dark", "close", "asked"];
const FLAT = { flat: "", on_side: " scale(0.45 1)", on_edge: " scale(0.86 0.86)", stacked: " scale(1.06)", on_rail: "" };

export class Table {
  constructor(root) {
    this.slots = Array.from(root.querySelectorAll("[data-slot]"), (node) => ({ node, mark: node.querySelector(".mark"), on: false, x: 0, y: 0 }));
    this.targets = Array.from(root.querySelectorAll("[data-target]"));
    this.zones = Array.from(root.querySelectorAll("[data-zone]"));
    this.rails = Array.from(root.querySelectorAll("[data-rail]"));
    this.drawing = root.querySelector("[data-part=drawing]");
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.lastAt = 0;
    this.frame = 0;
    this.turn = "";
  }

  show({ discs, red, black }) {
    const now = performance.now();
    const gap = now - this.lastAt;
    this.lastAt = now;
    const seen = new Set();
    let moves = false;
    for (const [slot, x, y, mark, pose] of discs) {
      const disc = this.slots[slot];
      if (!disc) continue;
      seen.add(slot);
      const jump = !disc.on || this.calm.matches || gap > 2 * GLIDE_MAX_MS || document.hidden || Math.hypot(x - disc.x, -y - disc.y) > JUMP_MM;
      disc.fromX = jump ? x : disc.x;
      disc.fromY = jump ? -y : disc.y;
      disc.toX = x;
      disc.toY = -y;
      moves ||= Math.hypot(disc.toX - disc.fromX, disc.toY - disc.fromY) > STILL_MM;
      set(disc.mark, "class", mark ? `mark ${MARKS[mark]}` : "mark");
      disc.pose = FLAT[pose] ?? "";
      if (!disc.on) {
        disc.on = true;
        disc.node.setAttribute("visibility", "visible");
      }
    }
    this.slots.forEach((disc, slot) => {
      if (disc.on && !seen.has(slot)) {
        disc.on = false;
        disc.node.setAttribute("visibility", "hidden");
      }
    });
    set(this.drawing, "aria-label", this.drawing.dataset.say.replace("{red}", red).replace("{black}", black));
    this.glideMs = moves ? Math.min(Math.max(gap, GLIDE_MIN_MS), GLIDE_MAX_MS) : 0;
    this.startAt = now;
    this.drawnAt = 0;
    if (!this.frame) this.step(now);
  }

  step(now) {
    const part = this.glideMs ? Math.min(Math.max((now - this.startAt) / this.glideMs, 0), 1) : 1;
    this.frame = part < 1 ? requestAnimationFrame((at) => this.step(at)) : 0;
    if (part < 1 && now - this.drawnAt < FRAME_MS) return;
    this.drawnAt = now;
    for (const disc of this.slots) {
      if (!disc.on) continue;
      disc.x = disc.fromX + (disc.toX - disc.fromX) * part;
      disc.y = disc.fromY + (disc.toY - disc.fromY) * part;
      set(disc.node, "transform", `translate(${disc.x.toFixed(2)} ${disc.y.toFixed(2)})${disc.pose}`);
    }
  }

  showTurn(turn, names) {
    for (const zone of this.zones) zone.classList.toggle("own", turn !== "" && (zone.dataset.zone === turn || zone.dataset.zone === "circle"));
    for (const rail of this.rails) {
      const name = names[rail.dataset.rail] ?? "";
      text(rail, name);
      rail.classList.toggle("plays", rail.dataset.rail === turn);
    }
  }

  showTargets(targets) {
    drawTargets(this.targets, targets);
  }
}

export function drawTargets(nodes, targets) {
  nodes.forEach((node, n) => {
    const target = targets[n];
    set(node, "visibility", target ? "visible" : "hidden");
    if (!target) return;
    const [kind, x, y, fromX, fromY, done, about] = target;
    set(node, "class", `target ${kind}${done ? " done" : ""}${about ? " about" : ""}`);
    set(node, "transform", `translate(${x} ${-y})`);
    const dx = String(fromX === null ? 0 : fromX - x);
    const dy = String(fromY === null ? 0 : y - fromY);
    for (const [mark, across, down] of [[".path", "x1", "y1"], [".held", "cx", "cy"]]) {
      set(node.querySelector(mark), across, dx);
      set(node.querySelector(mark), down, dy);
    }
  });
}

export function set(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

export function text(node, value) {
  const said = value === null || value === undefined ? "" : String(value);
  if (node && node.textContent !== said) node.textContent = said;
}
