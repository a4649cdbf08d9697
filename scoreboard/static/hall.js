// The list of all tables: a row is made once for each table and then only changed in place.

import { follow } from "./link.js";
import { showLink } from "./staleness.js";
import { set, text } from "./table.js";

const words = document.body.dataset;
const part = (name, root = document) => root.querySelector(`[data-part="${name}"]`);
const list = part("tables");
const row = document.getElementById("table");
const filters = document.querySelector(".filters");
const rows = new Map();

function rowOf(name) {
  if (!rows.has(name)) {
    const node = row.content.firstElementChild.cloneNode(true);
    node.querySelector("a").href = `/table/${encodeURIComponent(name)}/?${words.query}`;
    text(part("name", node), name);
    rows.set(name, node);
  }
  return rows.get(name);
}

function show(view) {
  view.tables.forEach((table, n) => {
    const node = rowOf(table.name);
    if (list.children[n] !== node) list.insertBefore(node, list.children[n] ?? null);
    set(node, "data-link", table.link);
    set(node, "data-judge", table.judge ? "yes" : "no");
    text(part("link", node), table.link === "live" ? words.wordLive : table.link === "waiting" ? words.wordWaiting : words.wordStale);
    text(part("at", node), table.set);
    text(part("last", node), table.last);
    table.teams.forEach((team, k) => {
      const pair = node.querySelector(`[data-team="${k}"]`);
      set(pair, "data-colour", team.colour);
      set(pair, "data-turn", team.turn ? "yes" : "no");
      text(part("player", pair), team.name);
      text(part("sets", pair), team.sets);
    });
  });
  const need = view.tables.filter((table) => table.judge).length;
  text(part("need"), need ? words.wordNeed.replace("{n}", need) : "");
  part("none").hidden = view.tables.length > 0;
  filter();
}

function filter() {
  const wanted = new FormData(filters);
  const sought = wanted.get("text").trim().toLowerCase();
  for (const node of rows.values()) {
    const fits = !sought || node.textContent.toLowerCase().includes(sought);
    node.hidden = !fits || (wanted.has("judge") && node.dataset.judge !== "yes") || (wanted.has("live") && node.dataset.link !== "live");
  }
}

filters.addEventListener("input", filter);
filters.addEventListener("submit", (event) => event.preventDefault());
follow(words.events, (section, view) => show(view), showLink);
