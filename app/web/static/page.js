// What no page needs, but is handier with a script. Everything works without this file.
"use strict";

document.documentElement.classList.add("scripting");

// Empty fields of a form need not stand in the address.
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb !== "get") return;
  const parameters = event.detail.formData;
  for (const [name, value] of [...parameters.entries()]) {
    if (value === "" && name !== "q") parameters.delete(name);
  }
});

// What is read aloud of an answer is shown as well if there is none.
function say(fault) {
  const status = document.getElementById("status");
  if (!status) return;
  if (fault) status.textContent = fault;
  status.classList.toggle("unseen", !fault);
}

document.addEventListener("htmx:sendError", () => say("The service cannot be reached. Please try again."));

// Not every error is one of our pages: a proxy has its own. Then what is shown stays.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target, serverResponse } = event.detail;
  const fits = serverResponse.includes(`id="${target.dataset.takes ?? target.id}"`);
  if (!fits && xhr.status === 404) location.reload(); // a test set that was removed meanwhile
  event.detail.shouldSwap &&= fits;
  if (target.id === "counts") return; // the answer stands without them
  say(fits ? "" : `The service does not answer at the moment (HTTP ${xhr.status}).`);
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-text]");
  if (!button) return;
  const said = [...button.childNodes];
  try {
    await copy(button.dataset.copyText ?? (await fetched(button.dataset.copy)));
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied";
  }
  setTimeout(() => { button.replaceChildren(...said); }, 2500);
});

async function fetched(address) {
  const response = await fetch(address, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(response.statusText);
  return response.text();
}

// Browsers have a clipboard only at https addresses and at localhost; a laboratory's server is often neither.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.className = "unseen";
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("refused");
}
