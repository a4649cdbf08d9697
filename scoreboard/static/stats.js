// The match in figures: numbers are set in place, pictures are fetched again when there is a new stroke in them.

import { follow } from "./link.js";
import { showLink } from "./staleness.js";
import { text } from "./table.js";

const words = document.body.dataset;
const part = (name, root = document) => root.querySelector(`[data-part="${name}"]`);
const people = Array.from(document.querySelectorAll("[data-player]"));
let drawn = "";

function showStats(view) {
  part("none").hidden = view.count > 0;
  part("all").hidden = view.count === 0;
  people.forEach((node, n) => {
    const player = view.players[n];
    node.hidden = !player;
    if (player) showPlayer(node, player);
  });
  const now = JSON.stringify(view);
  if (view.count > 0 && now !== drawn) for (const picture of document.querySelectorAll("[data-src]")) draw(picture, view.count);
  drawn = now;
}

function showPlayer(node, player) {
  text(part("name", node), player.name);
  node.querySelectorAll("[data-figure]").forEach((figure, n) => {
    text(figure.children[0], player.figures[n][0]);
    text(figure.children[1], player.figures[n][1]);
  });
  node.querySelectorAll("[data-way]").forEach((row, n) => {
    player.ways[n].forEach((cell, k) => text(row.children[k + 1], cell));
  });
}

// Pictures of players who aren't there are not asked for.
function draw(picture, count) {
  if (picture.closest("[data-player]")?.hidden) return;
  const address = `${picture.dataset.src}&n=${count}-${Date.now()}`;
  if (picture.localName === "source") picture.srcset = address;
  else picture.src = address;
}

const show = {
  stats: showStats,
  match: (view) => {
    text(part("set"), view.set);
    text(part("format"), view.format);
  },
};

follow(words.events, (section, view) => show[section](view), showLink);
