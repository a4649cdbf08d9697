// Signs in and opens the set-up; without a script nothing here can be pressed.
"use strict";

const form = document.getElementById("sign-in");
const wrong = document.getElementById("wrong");

document.getElementById("plain").hidden = window.isSecureContext;
form.querySelector("button").disabled = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = JSON.stringify({ password: document.getElementById("password").value });
  try {
    const answer = await fetch("/sign-in", { method: "POST", headers: { "content-type": "application/json" }, body });
    const said = await answer.json();
    if (said.error === null) {
      location.reload();
    } else {
      wrong.textContent = said.error;
    }
  } catch {
    wrong.textContent = "the table does not answer";
  }
});
