// Judging by keyboard, each judgment sent at once. Without this file the buttons send the form.
"use strict";

const RETRY_MS = 3000;
const form = document.querySelector("form.judging");
const items = [...form.querySelectorAll("[data-item]")];
const following = document.querySelector(form.dataset.following);
const fault = document.getElementById("fault");
// What is not confirmed yet, by item: its last grade, "" for none.
const waiting = new Map();
let sending = false;

function grade(item) {
  return item.querySelector("[aria-pressed=true]")?.dataset.grade ?? "";
}

function show(item, value) {
  for (const button of item.querySelectorAll("button")) {
    const pressed = button.dataset.grade === value;
    button.setAttribute("aria-pressed", String(pressed));
    button.value = pressed ? "" : button.dataset.grade;
  }
}

function mark(item, said) {
  const kept = item.querySelector(".kept");
  kept.textContent = said;
  kept.hidden = !said;
  item.classList.toggle("wanting", Boolean(said));
}

function report(said) {
  fault.textContent = said;
  fault.hidden = !said;
}

function judge(item, value) {
  // What was confirmed last, to return to if this is refused.
  if (!waiting.has(item)) item.dataset.before = grade(item);
  show(item, value);
  mark(item, "not kept yet");
  waiting.set(item, value);
  send();
}

// One request at a time, so that an earlier grade never overtakes a later one.
async function send() {
  if (sending) return;
  sending = true;
  while (waiting.size) {
    const batch = new Map(waiting);
    const refusal = await post(batch);
    if (refusal === null) {
      report("");
      for (const [item, value] of batch) {
        if (waiting.get(item) !== value) continue; // judged anew meanwhile
        waiting.delete(item);
        mark(item, "");
      }
    } else if (refusal.again) {
      report(`Not kept yet: ${refusal.said} Trying again; do not close this page.`);
      await new Promise((resolve) => { setTimeout(resolve, RETRY_MS); });
    } else {
      report(`Not kept: ${refusal.said}`);
      for (const item of waiting.keys()) {
        show(item, item.dataset.before);
        mark(item, "not kept");
      }
      waiting.clear();
    }
  }
  sending = false;
}

// null if the judgments are on the server's disk; else what to say, and whether to try again.
async function post(batch) {
  const body = new URLSearchParams([["judge", form.elements.judge.value]]);
  for (const [item, value] of batch) body.append(item.dataset.item, value);
  try {
    const response = await fetch(form.action, {
      method: "POST", body, headers: { Accept: "application/json" }, keepalive: true,
    });
    if (response.ok) {
      const { judged, items: all } = await response.json();
      document.getElementById("progress").textContent = `${judged} of ${all} judged`;
      document.getElementById("bar").value = judged;
      return null;
    }
    const again = response.status >= 500 || response.status === 429;
    return { again, said: `${await detail(response)}.` };
  } catch {
    return { again: true, said: "the server cannot be reached." };
  }
}

async function detail(response) {
  try {
    return (await response.json()).detail;
  } catch {
    return `HTTP ${response.status}`;
  }
}

function go(item, step) {
  const next = items[items.indexOf(item) + step] ?? (step > 0 ? following : item);
  next.focus();
}

form.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  event.preventDefault();
  judge(button.closest("[data-item]"), button.value);
});

form.addEventListener("keydown", (event) => {
  const item = event.target.closest("[data-item]");
  if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase();
  const button = item.querySelector(`button[data-letter="${CSS.escape(key)}"]`);
  if (key === "j" || key === "arrowdown") go(item, 1);
  else if (key === "k" || key === "arrowup") go(item, -1);
  else if (event.repeat) return;
  else if (key === "u") judge(item, "");
  else if (button) {
    judge(item, button.dataset.grade);
    go(item, 1);
  } else return;
  event.preventDefault();
});

window.addEventListener("beforeunload", (event) => {
  if (waiting.size) event.preventDefault();
});

(items.find((item) => grade(item) === "") ?? following).focus();
