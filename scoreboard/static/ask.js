// Before a command is sent: a window with what it would change. While it is open, news from the table are asked about again.

import { post, say, send } from "./send.js";
import { text } from "./table.js";

const part = (name) => document.querySelector(`[data-part="${name}"]`);
const dialog = part("ask");
const rows = Array.from(dialog.querySelectorAll("[data-row]"));
const entries = Array.from(dialog.querySelectorAll("[data-entry]"));
let asked = null;

export async function ask(question, address, body) {
  const mine = { question, address, body };
  asked = mine;
  const answer = await post(question, body);
  if (asked !== mine) return;
  if (!answer.accepted) {
    end();
    say(answer);
    return;
  }
  show(answer);
  if (!dialog.open) dialog.showModal();
}

export function askAgain() {
  if (dialog.open && asked) ask(asked.question, asked.address, asked.body);
}

function show({ what, view }) {
  text(part("ask-what"), what);
  text(part("ask-text"), view.text);
  text(part("ask-nothing"), view.nothing);
  part("ask-table").hidden = view.rows.length === 0;
  rows.forEach((row, n) => {
    row.hidden = n >= view.rows.length;
    Array.from(row.children).forEach((cell, k) => text(cell, view.rows[n]?.[k]));
  });
  entries.forEach((entry, n) => {
    entry.hidden = n >= view.entries.length;
    Array.from(entry.children).forEach((node, k) => text(node, view.entries[n]?.[k]));
  });
}

// Whatever closes the window ends the question: an answer that comes later must not open it again.
function end() {
  asked = null;
  dialog.close();
}

part("ask-send").addEventListener("click", () => {
  const { address, body } = asked;
  end();
  send(address, body);
});
part("ask-cancel").addEventListener("click", end);
dialog.addEventListener("cancel", end);
