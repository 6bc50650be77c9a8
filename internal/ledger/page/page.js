"use strict";
// Finds, filters and opens what is in the page. Without it everything can be read all the same.
(() => {
  const tools = document.querySelector(".tools");
  const find = document.getElementById("find");
  const count = document.getElementById("count");
  const expand = document.getElementById("expand");
  const items = [...document.querySelectorAll(".item")];
  const steps = [...document.querySelectorAll("article.step")];
  const kinds = [...tools.querySelectorAll("[data-show]")];
  const folded = () => [...document.querySelectorAll("main details")];
  const texts = new Map();
  const bad = ["fail", "warn", "unknown"];
  let show = "";
  let open = false;

  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
    return texts.get(item);
  };
  const wanted = (item, words) => {
    if (show === "bad" ? !bad.some((c) => item.classList.contains(c)) : show && item.dataset.kind !== show) return false;
    return words.every((word) => textOf(item).includes(word));
  };
  const apply = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const narrow = show || words.length;
    let shown = 0;
    for (const item of items) {
      item.hidden = !wanted(item, words);
      if (!item.hidden) shown++;
    }
    for (const step of steps) step.hidden = Boolean(narrow) && !step.querySelector(".item:not([hidden])");
    count.textContent = narrow ? `${shown} of ${items.length}` : "";
  };

  let due = 0;
  find.addEventListener("input", () => {
    clearTimeout(due);
    due = setTimeout(apply, 120);
  });
  tools.addEventListener("submit", (event) => event.preventDefault());
  for (const button of kinds) {
    if (button.dataset.show && button.dataset.show !== "bad" && !items.some((item) => item.dataset.kind === button.dataset.show)) button.remove();
    button.addEventListener("click", () => {
      show = button.dataset.show;
      for (const other of kinds) other.setAttribute("aria-pressed", String(other === button));
      apply();
    });
  }
  expand.addEventListener("click", () => {
    open = !open;
    for (const part of folded()) part.open = open;
    expand.textContent = open ? "Collapse all" : "Expand all";
  });

  // A link leads to its target whatever is folded or was left out by a filter.
  const toTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    if (target.closest("[hidden]")) {
      find.value = "";
      kinds[0].click();
    }
    if (target.classList.contains("item")) target.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", toTarget);
  // A box of the graph that is partly out of sight is not brought in by every browser.
  document.querySelector(".graph")?.parentElement.addEventListener("focusin", (event) => event.target.scrollIntoView({ block: "nearest", inline: "nearest" }));
  addEventListener("beforeprint", () => {
    for (const part of folded()) part.open = true;
  });
  toTarget();
  if (items.length > 1) tools.hidden = false;
})();
