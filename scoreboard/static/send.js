// Commands to the server as JSON, each answered in words.

import { set, text } from "./table.js";

const words = document.body.dataset;
const part = (name) => document.querySelector(`[data-part="${name}"]`);

export async function post(address, body) {
  try {
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(`${address}${address.includes("?") ? "&" : "?"}lang=${words.lang}`, options);
    const answer = await response.json();
    if (response.status === 403 && answer.error === "sign in first") location.reload();
    return answer;
  } catch {
    return { accepted: false, error: words.whyServer };
  }
}

export async function send(address, body) {
  text(part("answer"), words.wordSent);
  say(await post(address, body));
}

export function say(answer) {
  const done = answer.entry === null || answer.entry === undefined ? words.wordSentOn : words.wordDone.replace("{n}", answer.entry);
  text(part("answer"), answer.accepted ? done : words.wordRefused.replace("{why}", answer.error));
  set(part("answer"), "data-accepted", String(answer.accepted));
}
