// One ruling's clip and still on a page of their own.

import { Player } from "./player.js";

const root = document.querySelector('[data-part="player"]');
const player = new Player(root);
document.addEventListener("keydown", (event) => player.key(event));
const response = await fetch(`${location.pathname.replace(/\/$/, "")}/film.json`);
if (response.ok) player.show(await response.json());
