// The judge's console: cards filled in place; every command shows what it would change before it is sent.

import { ask, askAgain } from "./ask.js";
import { Clock } from "./clock.js";
import { Keep } from "./keep.js";
import { follow } from "./link.js";
import { Live } from "./live.js";
import { showMargin } from "./margin.js";
import { send } from "./send.js";
import { pictureCame, showLink } from "./staleness.js";
import { Table, set, text } from "./table.js";
import { showFound } from "./wizard.js";

const words = document.body.dataset;
const part = (name, root = document) => root.querySelector(`[data-part="${name}"]`);
const table = new Table(part("table"));
const asksForTable = document.querySelector('[data-do="show_table"]');
const live = new Live(part("live"), { always: true, onShown: (isShown) => set(asksForTable, "aria-pressed", String(isShown)) });
const clock = new Clock(part("clock"));
const slots = Array.from(document.querySelectorAll("[data-card]"));
const keep = new Keep(slots);
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
  keep.place();
  askAgain();
}

function showCard(slot, card) {
  const isNew = slot.dataset.entry !== String(card.entry);
  // Another entry has moved into this place: nothing that was begun for the old one may hit it.
  if (isNew) for (const form of slot.querySelectorAll("details")) form.open = false;
  slot.dataset.entry = card.entry;
  set(slot, "data-state", card.state);
  set(slot, "data-gone", card.gone ? "yes" : "no");
  text(part("number", slot), card.number);
  text(part("title", slot), card.title);
  text(part("text", slot), card.text);
  part("tag", slot).hidden = !card.tag;
  text(part("tag", slot), card.tag);
  part("override", slot).hidden = !card.stroke || card.gone;
  part("event", slot).hidden = !card.stroke || card.gone || card.pieces.length === 0;
  part("confirm", slot).hidden = !card.stroke || card.gone || card.state === "review";
  part("void", slot).hidden = card.gone;
  slot.querySelectorAll("[data-piece]").forEach((option, n) => {
    const id = n === 0 ? "striker" : card.pieces[n - 1];
    option.hidden = option.disabled = id === undefined;
    option.value = id ?? "";
    text(option, n === 0 ? words.wordStriker : id);
  });
  const disc = slot.querySelector('select[name="disc"]');
  if (isNew || disc.selectedIndex < 0) disc.value = card.pieces[0] ?? "striker";
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

function showPlacing(view) {
  table.showTargets(view.targets);
  live.showTargets(view.targets, view.following);
  const panel = part("placing");
  panel.hidden = view.to_do.length === 0;
  text(part("waits", panel), view.waits);
  panel.querySelectorAll("[data-line]").forEach((node, n) => {
    node.hidden = n >= view.to_do.length;
    text(node, view.to_do[n]?.[0]);
    set(node, "class", view.to_do[n]?.[1] ? "done" : "");
  });
}

const consider = (command) => ask("/judge/preview", "/judge/command", command);

function cardOf(node) {
  return cards[Number(node.closest("[data-card]").dataset.card)];
}

const act = {
  confirm: (button) => send("/judge/command", { command: "confirm", entry: cardOf(button).entry }),
  void: (button) => consider({ command: "void", entry: cardOf(button).entry }),
  resolve: (button) => {
    const reading = cardOf(button).readings[Number(button.closest("[data-reading]").dataset.reading)];
    consider({ command: "resolve", entry: cardOf(button).entry, assume: reading.assume });
  },
  wave_through: () => consider({ command: "wave_through" }),
  show_table: (button) => send("/judge/command", { command: "show_table", show: button.getAttribute("aria-pressed") !== "true" }),
  clock: (button) => send("/judge/command", { command: "clock", span: button.dataset.span }),
  "clock-stop": () => send("/judge/command", { command: "clock", run: false }),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (button) act[button.dataset.do](button);
});

const commandOf = {
  override: (form, given) => {
    const ruling = {};
    if (given.clause === "lawful") Object.assign(ruling, { lawful: true, faults: [] });
    else if (given.clause) Object.assign(ruling, { lawful: false, faults: [{ clause: given.clause, side: given.side }] });
    if (given.next) ruling.next = given.next;
    if (given.penalty_pieces) ruling.penalty_pieces = Number(given.penalty_pieces);
    return { command: "override", entry: cardOf(form).entry, ruling };
  },
  add_event: (form, given) => {
    const fields = {
      pocket: { disc: given.disc, pocket: given.pocket },
      over_rail: { disc: given.disc, rail: given.rail },
      rail: { disc: "striker", rail: given.rail },
      contact: { discs: ["striker", given.disc] },
      touched: { discs: [given.disc], side: given.side, by: "hand" },
    };
    return { command: "add_event", entry: cardOf(form).entry, when: given.when, event: { event: given.event, ...fields[given.event] } };
  },
};

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-command]");
  if (!form) return;
  event.preventDefault();
  const given = Object.fromEntries(new FormData(form));
  const name = form.dataset.command;
  if (commandOf[name]) {
    consider(commandOf[name](form, given));
    return;
  }
  const command = { command: event.submitter?.value || name, side: given.side };
  if (given.clause) command.clause = given.clause;
  for (const left of (event.submitter?.dataset.without ?? "").split(" ")) delete command[left];
  consider(command);
});

// A form asks only for what the chosen kind of event needs.
document.addEventListener("change", (event) => {
  const select = event.target.closest('select[name="event"]');
  if (!select) return;
  for (const field of select.form.querySelectorAll("[data-for]")) field.hidden = !field.dataset.for.split(" ").includes(select.value);
});

const show = {
  cards: showCards,
  ruling: showPlacing,
  picture: (view) => live.show(view),
  clock: (view) => clock.show(view),
  evidence: (view) => keep.show(view),
  discs: (view) => {
    if (view.discs.length) pictureCame();
    table.show(view);
    showFound(view.colours);
  },
  match: (view) => {
    text(part("set"), view.set);
    text(part("format"), view.format);
    table.showTurn(view.turn, view.names);
  },
};

// Until here a form would have been sent by the browser itself, as an address, and the judge's word lost.
part("work").inert = false;

// The server refuses a stream whose session has ended, as after its restart: the page to sign in comes by itself.
follow(words.events, (section, view) => show[section](view), showLink, () => location.reload());
