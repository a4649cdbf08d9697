// The form that begins a match: asks only for what its choices need, says which colours lie on the table, and shows who begins before it is sent.

import { ask } from "./ask.js";
import { text } from "./table.js";

const form = document.querySelector("form[data-match]");
const found = document.querySelector('[data-part="found"]');

function fit() {
  const doubles = form.elements.format.value === "doubles";
  for (const node of form.querySelectorAll("[data-doubles]")) node.hidden = !doubles;
  for (const node of form.querySelectorAll("[data-singles]")) node.hidden = doubles;
  for (const name of ["first1", "second1"]) form.elements[name].required = doubles;
  for (const node of form.querySelectorAll("[data-scheme]")) node.hidden = !node.dataset.scheme.split(" ").includes(form.elements.scheme.value);
}

export function showFound(colours) {
  const sides = Array.from(form.elements.side.options).filter((option) => option.value in colours);
  const said = sides.map((option) => `${option.textContent} ${found.dataset[colours[option.value]]}`);
  text(found, said.length ? found.dataset.say.replace("{what}", said.join(", ")) : found.dataset.none);
}

form.addEventListener("change", fit);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const given = Object.fromEntries(new FormData(form));
  const names = (which) => (given.format === "doubles" ? [given[`${which}0`], given[`${which}1`]] : [given[`${which}0`]]);
  const match = {
    format: given.format,
    ruleset: given.ruleset,
    sets: Number(given.sets),
    first: names("first"),
    second: names("second"),
    scheme: given.scheme,
    drawn: Number(given.drawn),
    round: Number(given.round),
    side: given.side,
    colour: given.colour || null,
  };
  for (const tick of ["play_all_sets", "guided_placing", "penalty_stroke", "force"]) match[tick] = given[tick] === "on";
  ask("/judge/match?preview=1", "/judge/match", match);
});
fit();
