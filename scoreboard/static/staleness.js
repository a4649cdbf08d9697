// How the link is, in words and as a mark over the table.

import { set, text } from "./table.js";

const words = document.body.dataset;
const part = (name) => document.querySelector(`[data-part="${name}"]`);
let changedAt = null;

export function pictureCame() {
  changedAt = new Date();
}

export function showLink(why) {
  const link = why === "" ? "live" : why === "waiting" ? "waiting" : "stale";
  set(document.body, "data-link", link);
  text(part("link-word"), link === "live" ? words.wordLive : link === "waiting" ? words.wordWaiting : words.wordStale);
  const mark = part("stale");
  if (!mark) return;
  mark.hidden = link !== "stale";
  if (link !== "stale") return;
  text(part("why"), words[`why${why[0].toUpperCase()}${why.slice(1)}`]);
  const time = changedAt && changedAt.toLocaleTimeString(document.documentElement.lang, { hour12: false });
  text(part("since"), time ? words.wordSince.replace("{time}", time) : "");
}
