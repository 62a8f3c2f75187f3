// Follows a log: what comes is put at its end as text, and of what has become too much the beginning goes.
"use strict";

const CHARACTERS_KEPT = 1000000;
const shown = document.querySelector("#log");
const box = document.querySelector("#follow");
let source = null;

function add(text) {
  const isAtEnd = shown.scrollTop + shown.clientHeight >= shown.scrollHeight - 4;
  shown.append(text);
  shown.normalize();
  const held = shown.firstChild;
  if (held && held.length > CHARACTERS_KEPT) held.deleteData(0, held.length - CHARACTERS_KEPT);
  if (isAtEnd) shown.scrollTop = shown.scrollHeight;
}

function tell(text) {
  document.querySelector("#connection").textContent = text;
}

function follow() {
  source = new EventSource(box.dataset.follow);
  source.onopen = () => tell("");
  source.onerror = () => tell("no answer from the server; it is asked again");
  source.onmessage = (event) => {
    const { text, skipped } = JSON.parse(event.data);
    if (skipped) add(`\n… ${skipped} bytes are left out …\n`);
    add(text);
    shown.dataset.end = event.lastEventId;
  };
  source.addEventListener("gone", (event) => {
    stop();
    tell(JSON.parse(event.data));
  });
}

function stop() {
  source?.close();
  source = null;
  box.checked = false;
  if (shown.dataset.end) box.dataset.follow = box.dataset.follow.replace(/offset=\d+$/, `offset=${shown.dataset.end}`);
}

if (shown) shown.scrollTop = shown.scrollHeight;
if (box) {
  box.parentElement.hidden = false;
  box.addEventListener("change", () => (box.checked ? follow() : stop()));
}
