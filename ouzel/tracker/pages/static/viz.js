// One cursor over all charts, which shows what each line was at that time; dragging over a chart zooms.
"use strict";

const board = document.querySelector("#charts");
let dragged = null;

function shortened(value) {
  for (const [limit, unit] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]]) {
    if (value >= limit) return (value / limit).toFixed(value / limit >= 100 ? 0 : 1) + unit;
  }
  return value >= 10 || value === 0 ? value.toFixed(0) : String(Number(value.toPrecision(2)));
}

function figure(value, unit) {
  const text = shortened(Number(value));
  return unit.startsWith("B") && /\D$/.test(text) ? text + unit : `${text} ${unit}`;
}

function numbers(chart) {
  return Object.fromEntries(["first", "step", "count", "left", "right"].map((key) => [key, Number(chart.dataset[key])]));
}

// The step under the pointer, and its place in the picture.
function stepAt(chart, event) {
  const { count, left, right } = numbers(chart);
  const box = chart.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * chart.viewBox.baseVal.width;
  const step = Math.min(count - 1, Math.max(0, Math.floor(((x - left) / (right - left)) * count)));
  return { step, x: left + ((step + 0.5) / count) * (right - left) };
}

function show(step, x) {
  for (const panel of board.querySelectorAll(".panel")) {
    const chart = panel.querySelector(".chart");
    const picked = chart.querySelector(".picked");
    const line = `M${x} ${picked.getAttribute("y")}v${picked.getAttribute("height")}`;
    chart.querySelector(".cursor").setAttribute("d", x === null ? "" : line);
    const figures = panel.querySelectorAll(".legend b");
    chart.querySelectorAll(".line").forEach((line, number) => {
      const told = figures[number];
      if (!told) return;
      told.dataset.last ??= told.textContent;
      const value = x === null ? null : line.dataset.values.split(",")[step];
      told.textContent = value === null ? told.dataset.last : value ? figure(value, told.dataset.unit) : "–";
    });
  }
  const chart = board.querySelector(".chart");
  if (!chart) return;
  const { first, step: seconds } = numbers(chart);
  const time = new Date((first + step * seconds) * 1000).toISOString().slice(0, 19).replace("T", " ");
  document.querySelector("#moment").textContent = x === null ? "" : `At ${time}`;
}

function pick(chart, from, to) {
  const { count, left, right } = numbers(chart);
  const place = (step) => left + (step / count) * (right - left);
  const picked = chart.querySelector(".picked");
  picked.setAttribute("x", place(Math.min(from, to)));
  picked.setAttribute("width", place(Math.max(from, to) + 1) - place(Math.min(from, to)));
}

board?.addEventListener("pointermove", (event) => {
  const chart = event.target.closest(".chart");
  if (!chart) return;
  const { step, x } = stepAt(chart, event);
  show(step, x);
  if (dragged?.chart === chart) pick(chart, dragged.step, step);
});
board?.addEventListener("pointerleave", () => show(0, null));
board?.addEventListener("pointerdown", (event) => {
  const chart = event.target.closest(".chart");
  if (!chart || event.button !== 0) return;
  dragged = { chart, step: stepAt(chart, event).step };
  board.dataset.busy = "1"; // charts are not replaced meanwhile
});
document.addEventListener("pointerup", (event) => {
  if (!dragged) return;
  const { chart, step: from } = dragged;
  dragged = null;
  delete board.dataset.busy;
  const { first, step: seconds } = numbers(chart);
  const to = stepAt(chart, event).step;
  if (from === to) return chart.querySelector(".picked").setAttribute("width", 0);
  const [begin, end] = [Math.min(from, to), Math.max(from, to) + 1];
  location.assign(`${board.dataset.address}?from=${first + begin * seconds}&to=${first + end * seconds}`);
});
