// Keeps a page live: sorts and filters the list, and takes the parts that change from the server every few seconds.
"use strict";

const EVERY_MS = 3000;
const sorting = { key: "name", kind: "text", direction: 1 };

function valueOf(row, key, kind) {
  const told = row.dataset[key] ?? row.cells[0]?.textContent ?? "";
  return kind !== "text" ? Number(told) || 0 : told;
}

function compare(one, other) {
  const [a, b] = [one, other].map((row) => valueOf(row, sorting.key, sorting.kind));
  const order = sorting.kind !== "text" ? a - b : String(a).localeCompare(String(b));
  return sorting.direction * order || valueOf(one, "name", "text").localeCompare(valueOf(other, "name", "text"));
}

function arrange() {
  const body = document.querySelector("#topologies tbody");
  if (!body) return;
  const words = document.querySelector("#filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const problems = new Map([...body.querySelectorAll("tr[data-of]")].map((row) => [row.dataset.of, row]));
  const rows = [...body.rows].filter((row) => row.dataset.name !== undefined).sort(compare);
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    body.append(row);
    const problem = problems.get(row.dataset.name);
    if (problem) {
      problem.hidden = row.hidden;
      body.append(problem);
    }
  }
}

function onSort(event) {
  const button = event.target.closest("button[data-key]");
  if (!button) return;
  sorting.direction = sorting.key === button.dataset.key ? -sorting.direction : 1;
  [sorting.key, sorting.kind] = [button.dataset.key, button.dataset.kind];
  for (const head of button.closest("tr").cells) head.setAttribute("aria-sort", "none");
  button.closest("th").setAttribute("aria-sort", sorting.direction === 1 ? "ascending" : "descending");
  arrange();
}

// Puts new content in, and leaves the focus and how far tables are scrolled as they were.
function replace(live, html) {
  const places = () => [...live.querySelectorAll("a, [tabindex]")];
  const before = places();
  const focused = before.indexOf(document.activeElement);
  const scrolled = before.map((place) => place.scrollLeft);
  const template = document.createElement("template");
  template.innerHTML = html;
  live.replaceChildren(template.content);
  arrange();
  places().forEach((place, number) => (place.scrollLeft = scrolled[number] ?? 0));
  if (focused >= 0) places()[focused]?.focus({ preventScroll: true });
}

async function refresh() {
  const live = document.querySelector("[data-live]");
  const told = document.querySelector("#connection");
  if (live && !live.dataset.busy && !document.hidden && document.getSelection().isCollapsed) {
    try {
      const answer = await fetch(live.dataset.live, { credentials: "same-origin" });
      if (answer.ok) replace(live, await answer.text());
      const isGone = answer.status === 404;
      told.textContent = answer.ok ? "" : isGone ? "it is not there any more; what is shown is old" : "it cannot be read; load the page again to see why";
    } catch (error) {
      told.textContent = "no answer from the server; what is shown is old";
    }
  }
  setTimeout(refresh, Number(live?.dataset.every ?? EVERY_MS));
}

// Shows where in the query the operators of a component stand.
function light(event) {
  const box = event.target.closest?.("[data-lines]");
  const lines = new Set((box?.dataset.lines ?? "").split(" "));
  document.querySelectorAll("#query li").forEach((line, number) => line.classList.toggle("lit", lines.has(String(number + 1))));
}
if (document.querySelector("#query")) for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, light);

// What is typed stands in the address, so that it can be kept as a bookmark.
const filter = document.querySelector("#filter");
if (filter) filter.value = new URLSearchParams(location.hash.slice(1)).get("filter") ?? "";
filter?.addEventListener("input", () => {
  history.replaceState(null, "", `#${new URLSearchParams({ filter: filter.value })}`);
  arrange();
});
document.querySelector("#topologies thead")?.addEventListener("click", onSort);
arrange();
setTimeout(refresh, EVERY_MS);
