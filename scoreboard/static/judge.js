// The judge's console: cards filled in place, commands sent as JSON, each answered in words. Weighty ones ask for a second press.

import { follow } from "./link.js";
import { showMargin } from "./margin.js";
import { pictureCame, showLink } from "./staleness.js";
import { Table, set, text } from "./table.js";

const SURE_MS = 4000; // how long a second press may take
const words = document.body.dataset;
const part = (name, root = document) => root.querySelector(`[data-part="${name}"]`);
const table = new Table(part("table"));
const slots = Array.from(document.querySelectorAll("[data-card]"));
let cards = [];

function showCards(view) {
  cards = view.cards;
  part("no-cards").hidden = cards.length > 0;
  for (const option of document.querySelectorAll("[data-side-option]")) {
    const name = view.sides[option.dataset.sideOption];
    option.hidden = option.disabled = Object.keys(view.sides).length > 0 && name === undefined;
    if (name) text(option, name);
  }
  for (const select of document.querySelectorAll('select[name="side"]')) {
    if (select.selectedOptions[0]?.disabled) select.value = Object.keys(view.sides)[0];
  }
  slots.forEach((slot, n) => {
    slot.hidden = n >= cards.length;
    if (cards[n]) showCard(slot, cards[n]);
  });
}

function showCard(slot, card) {
  if (slot.dataset.entry !== String(card.entry)) {
    // Another entry has moved into this place: nothing that was begun for the old one may hit it.
    part("override", slot).open = false;
    slot.querySelectorAll("[data-armed]").forEach(disarm);
  }
  slot.dataset.entry = card.entry;
  set(slot, "data-state", card.state);
  text(part("number", slot), card.number);
  text(part("title", slot), card.title);
  text(part("text", slot), card.text);
  part("tag", slot).hidden = !card.tag;
  text(part("tag", slot), card.tag);
  part("override", slot).hidden = !card.stroke;
  slot.querySelectorAll("[data-clause]").forEach((node, n) => {
    node.hidden = n >= card.clauses.length;
    text(node, card.clauses[n]);
  });
  slot.querySelectorAll("[data-reading]").forEach((node, n) => {
    const reading = card.readings[n];
    node.hidden = !reading;
    text(part("label", node), reading?.label);
    text(part("leads", node), reading?.leads);
  });
  showMargin(part("margin", slot), card.margin);
}

async function send(command) {
  text(part("answer"), words.wordSent);
  let answer;
  try {
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(command) };
    const response = await fetch("/judge/command", options);
    if (response.status === 403) location.reload();
    answer = await response.json();
  } catch {
    answer = { accepted: false, error: words.whyServer };
  }
  text(part("answer"), answer.accepted ? words.wordDone.replace("{n}", answer.entry) : words.wordRefused.replace("{why}", answer.error));
  set(part("answer"), "data-accepted", String(answer.accepted));
}

// The first press of a weighty button arms it, the second within a few seconds counts.
function isSure(button) {
  if (button.dataset.sure === undefined || button.dataset.armed) {
    disarm(button);
    return true;
  }
  button.dataset.armed = "yes";
  button.dataset.label = button.textContent;
  text(button, words.wordSure);
  setTimeout(() => disarm(button), SURE_MS);
  return false;
}

function disarm(button) {
  if (button.dataset.label !== undefined) text(button, button.dataset.label);
  delete button.dataset.label;
  delete button.dataset.armed;
}

function cardOf(node) {
  return cards[Number(node.closest("[data-card]").dataset.card)];
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  const card = cardOf(button);
  if (!isSure(button)) return;
  if (button.dataset.do === "void") send({ command: "void", entry: card.entry });
  if (button.dataset.do === "lawful") send({ command: "override", entry: card.entry, ruling: { lawful: true, faults: [] } });
  if (button.dataset.do === "resolve") {
    const reading = card.readings[Number(button.closest("[data-reading]").dataset.reading)];
    send({ command: "resolve", entry: card.entry, assume: reading.assume });
  }
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-command]");
  if (!form) return;
  event.preventDefault();
  const button = event.submitter;
  if (button && !isSure(button)) return;
  const { side, clause } = Object.fromEntries(new FormData(form));
  if (form.dataset.command === "override") {
    send({ command: "override", entry: cardOf(form).entry, ruling: { lawful: false, faults: [{ clause, side }] } });
    return;
  }
  const command = { command: button?.value || form.dataset.command, side, clause };
  if (button?.dataset.without) delete command[button.dataset.without];
  send(command);
});

const show = {
  cards: showCards,
  ruling: (view) => table.showTargets(view.targets),
  discs: (view) => {
    if (view.discs.length) pictureCame();
    table.show(view);
  },
  match: (view) => {
    text(part("set"), view.set);
    text(part("format"), view.format);
    table.showTurn(view.turn, view.names);
  },
};

follow(words.events, (section, view) => show[section](view), showLink);
