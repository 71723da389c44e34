// The chat page of `agentctl serve`. The secret stays in this page's memory and goes out as a header to this server alone; what is said is
// shown as text, never as markup. The conversation's name is kept for the tab, so that a reload finds it again.
"use strict";

const pack = document.body.dataset.pack;
const at = (id) => document.getElementById(id);
const kept = `agentctl.chat.${pack}`;
let authorization = "";

function conversation() {
  const known = sessionStorage.getItem(kept);
  if (known) return known;
  const made = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  sessionStorage.setItem(kept, made);
  return made;
}

function show(kind, text) {
  const said = document.createElement("article");
  said.className = kind;
  said.textContent = text;
  said.setAttribute("aria-label", { user: "You", assistant: "Answer", error: "Error" }[kind]);
  at("said").append(said);
  said.scrollIntoView({ block: "end" });
}

async function ask(body) {
  const answer = await fetch(`/chat/${pack}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json", authorization },
    body: JSON.stringify({ sessionId: conversation(), ...body }),
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
  const told = await answer.json().catch(() => ({ detail: `the server answered ${answer.status} without JSON` }));
  if (answer.ok) return told;
  throw new Error([told.detail, told.hint].filter(Boolean).join("; "));
}

async function busy(what, work) {
  const buttons = document.querySelectorAll("button");
  buttons.forEach((button) => { button.disabled = true; });
  at("state").textContent = what;
  try {
    return await work();
  } catch (error) {
    show("error", error.message);
    at("said").hidden = false;
    return null;
  } finally {
    at("state").textContent = "";
    buttons.forEach((button) => { button.disabled = false; });
  }
}

async function load() {
  const told = await busy("Opening …", () => ask({ action: "loadPreviousSession" }));
  if (!told) return false;
  at("said").replaceChildren();
  for (const message of told.data) {
    show(message.id.at(-1) === "HumanMessage" ? "user" : "assistant", message.kwargs.content);
  }
  return true;
}

at("door").addEventListener("submit", async (event) => {
  event.preventDefault();
  const secret = at("secret").value;
  const bytes = new TextEncoder().encode(secret);
  authorization = secret.includes(":") ? `Basic ${btoa(String.fromCharCode(...bytes))}` : `Bearer ${secret}`;
  if (!(await load())) return;
  at("secret").value = "";
  at("door").hidden = true;
  for (const id of ["said", "say", "new"]) at(id).hidden = false;
  at("text").focus();
});

at("say").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = at("text").value;
  if (!text.trim() || at("say").querySelector("button").disabled) return;
  at("text").value = "";
  show("user", text);
  const told = await busy("Working …", () => ask({ action: "sendMessage", chatInput: text }));
  if (told) show("assistant", told.output);
  at("text").focus();
});

at("text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  at("say").requestSubmit();
});

at("new").addEventListener("click", () => {
  sessionStorage.removeItem(kept);
  at("said").replaceChildren();
  at("text").focus();
});
