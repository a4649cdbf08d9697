// Shows what the steps say and ask, and the camera's picture; sends answers. Asks for news a few times a second.
"use strict";

const EVERY_MS = 300;
// Answers of one letter that a question names, e.g. "again (r)".
const CHOICE = /([^,()]+?) \((Enter|[a-z])\)/g;

const at = (id) => document.getElementById(id);
let shown = 0;
let asked = 0;
let answered = 0;
let picture = 0;
let report = 0;

function say(state) {
  for (let number = Math.max(shown, state.first); number < state.first + state.lines.length; number += 1) {
    const text = state.lines[number - state.first];
    const line = document.createElement(/^\d+\. /.test(text) ? "h2" : "p");
    line.textContent = text;
    line.classList.toggle("wrong", text.startsWith("WRONG"));
    at("said").append(line);
    line.scrollIntoView({ block: "nearest" });
  }
  shown = Math.max(shown, state.first + state.lines.length);
  at("showing").textContent = state.showing;
  at("enough").hidden = !state.showing || state.question !== null;
}

function ask(question) {
  // News that was on its way may still tell of the question that has just been answered.
  at("ask").hidden = question === null || question.number === answered;
  if (question === null || question.number === asked) {
    return;
  }
  asked = question.number;
  at("question").textContent = question.text;
  const field = at("answer");
  field.type = question.hidden ? "password" : "text";
  field.value = "";
  field.placeholder = question.default;
  at("choices").replaceChildren(...choices(question.text));
  field.focus();
}

function choices(text) {
  return [...text.matchAll(CHOICE)].map(([, name, key]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name.trim().replace(/^or /, "");
    button.addEventListener("click", () => send(key === "Enter" ? "" : key));
    return button;
  });
}

function look(state) {
  const image = at("picture");
  if (state.picture !== picture && (image.complete || image.hidden)) {
    picture = state.picture;
    image.src = `/picture.jpg?${picture}`;
    image.hidden = false;
  }
  if (state.report !== report) {
    report = state.report;
    at("residuals").src = `/report.png?${report}`;
    at("report").hidden = false;
  }
}

async function post(path, value) {
  const answer = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) });
  if (answer.status === 403) {
    location.reload();
  }
}

async function send(text) {
  const number = asked;
  answered = number;
  at("ask").hidden = true;
  try {
    await post("/answer", { number, text });
  } catch {
    at("gone").hidden = false;
    answered = 0;
  }
}

async function news() {
  try {
    const answer = await fetch("/state");
    if (answer.status === 403) {
      location.reload();
      return;
    }
    const state = await answer.json();
    at("gone").hidden = true;
    say(state);
    ask(state.question);
    look(state);
    at("done").hidden = !state.done;
    if (state.done) {
      return;
    }
  } catch {
    at("gone").hidden = false;
  }
  setTimeout(news, EVERY_MS);
}

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  send(at("answer").value);
});
at("enough").addEventListener("click", () => post("/enough", {}));
news();
