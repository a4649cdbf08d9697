// Puts what the server says into the page: texts, states and attributes only; no node is made or removed after loading.

import { Clock } from "./clock.js";
import { Evidence, Viewer } from "./evidence.js";
import { follow } from "./link.js";
import { Live } from "./live.js";
import { showMargin } from "./margin.js";
import { pictureCame, showLink } from "./staleness.js";
import { Table, set, text } from "./table.js";

const words = document.body.dataset;
const part = (name, root = document) => root.querySelector(`[data-part="${name}"]`);
const figure = part("table");
const table = figure && new Table(figure);
const live = part("live") && new Live(part("live"));
const clock = part("clock") && new Clock(part("clock"));
const teams = Array.from(document.querySelectorAll("[data-team]"));
const ruling = part("ruling");
const evidence = part("evidence") && new Evidence(part("evidence"), { replays: true });
if (part("viewer")) new Viewer(part("viewer"));
let fitted = null;

function showMatch(match) {
  text(part("set"), match.set);
  text(part("format"), match.format);
  document.body.classList.toggle("known", match.known);
  if (table) table.showTurn(match.turn, match.names);
  for (const node of teams) showTeam(node, match.teams[Number(node.dataset.team)]);
}

function showTeam(node, team) {
  set(node, "data-colour", team.colour);
  set(node, "data-full", String(team.full));
  node.classList.toggle("playing", team.turn);
  text(part("name", node), team.name);
  text(part("colour", node), team.colour_word);
  part("turn", node).hidden = !team.turn;
  text(part("turn", node), team.turn_word);
  set(node, "data-long", team.name.length > 30 ? "very" : team.name.length > 17 ? "yes" : "no");
  text(part("sets", node), team.sets);
  text(part("left", node), team.left ?? "–");
  node.querySelectorAll(".pips i").forEach((pip, n) => {
    const kind = n >= team.full ? "none" : team.left !== null && n < team.left ? "on" : "off";
    set(pip, "class", kind);
  });
  part("series", node).hidden = !team.series;
  text(part("series", node), team.series);
  for (const [chip, count] of [["debt", team.debt], ["warn", team.warnings]]) {
    part(`${chip}-chip`, node).hidden = count === 0;
    text(part(chip === "warn" ? "warnings" : "debt", node), count);
  }
}

function showRuling(view) {
  if (table) table.showTargets(view.targets);
  if (live) live.showTargets(view.targets, view.following);
  if (!ruling) return;
  set(ruling, "data-state", view.state);
  text(part("title", ruling), view.title);
  text(part("text", ruling), view.text);
  for (const name of ["tag", "waits"]) {
    part(name, ruling).hidden = !view[name];
    text(part(name, ruling), view[name]);
  }
  fill("clause", view.clauses);
  fill("line", view.lines.map(([said]) => said));
  ruling.querySelectorAll("[data-line]").forEach((node, n) => set(node, "class", view.lines[n]?.[1] ? "done" : ""));
  const margin = part("margin", ruling);
  showMargin(margin, view.margin);
  set(ruling, "data-bare", view.lines.length || view.margin ? "no" : "yes");
  const said = ruling.textContent;
  if (said !== fitted) fit();
  fitted = said;
}

function showEvidence({ last }) {
  if (!evidence) return;
  evidence.show(last);
  set(ruling, "data-evidence", last?.page ? "yes" : last?.why ? "why" : "no");
  fit();
}

// The panel has a fixed place; words that don't fit are set smaller, in four steps.
function fit() {
  for (let step = 0; step <= 3; step += 1) {
    set(ruling, "data-fit", String(step));
    if (ruling.scrollHeight <= ruling.clientHeight + 1) return;
  }
}

function fill(name, values) {
  ruling.querySelectorAll(`[data-${name}]`).forEach((node, n) => {
    node.hidden = n >= values.length;
    text(node, values[n] ?? "");
  });
}

if (ruling) addEventListener("resize", fit);

const show = { match: showMatch, ruling: showRuling, discs: (view) => table && table.show(view), picture: (view) => live && live.show(view), clock: (view) => clock && clock.show(view), evidence: showEvidence };

follow(
  words.events,
  (section, view) => {
    if (section === "discs" && view.discs.length) pictureCame();
    show[section](view);
  },
  showLink,
);
