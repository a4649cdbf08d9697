// The margin to scale: the line in the middle, what was measured as a needle, twice its sigma as a band.

import { set, text } from "./table.js";

const SCALES_MM = [5, 10, 20, 60]; // from the line to the end of the drawing; the smallest that holds the band

export function showMargin(node, margin) {
  node.hidden = margin === null;
  if (margin === null) return;
  const part = (name) => node.querySelector(`[data-part="${name}"]`);
  const reach = SCALES_MM.find((mm) => Math.abs(margin.mm) + margin.sigma2 < mm) ?? SCALES_MM.at(-1);
  const at = (mm) => Math.min(Math.max((mm / reach) * 100, -100), 100);
  set(node, "data-how", margin.how);
  text(part("margin-text"), margin.text);
  text(part("margin-value"), margin.value);
  text(part("margin-how"), margin.verdict);
  text(part("margin-scale"), `± ${reach} mm`);
  const left = at(margin.mm - margin.sigma2);
  part("band").setAttribute("x", left);
  part("band").setAttribute("width", Math.max(at(margin.mm + margin.sigma2) - left, 0.8));
  part("needle").setAttribute("transform", `translate(${at(margin.mm)} 0)`);
}
