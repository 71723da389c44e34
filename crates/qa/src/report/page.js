"use strict";
(() => {
  const table = document.querySelector("table"), body = table.tBodies[0];
  const rows = [...body.rows], chosen = {};
  const cell = (row, at) => row.cells[at].textContent;
  const shown = document.getElementById("shown");
  const filter = () => {
    const words = chosen.words ?? "";
    let left = 0;
    for (const row of rows) {
      const fits = (!chosen.code || cell(row, 1) === chosen.code) && (!chosen.severity || row.cells[0].textContent === chosen.severity)
        && (!chosen.state || row.cells[6].textContent.startsWith(chosen.state)) && row.textContent.toLowerCase().includes(words);
      row.hidden = !fits;
      if (fits) left += 1;
    }
    shown.textContent = `${left} of ${rows.length} findings`;
  };
  for (const name of ["code", "severity", "state"]) {
    document.getElementById(name).addEventListener("change", (event) => { chosen[name] = event.target.value; filter(); });
  }
  document.getElementById("words").addEventListener("input", (event) => { chosen.words = event.target.value.toLowerCase(); filter(); });
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.textContent = "";
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => cell(a, at).localeCompare(cell(b, at), undefined, { numeric: true }) * (down ? -1 : 1));
      body.append(...rows);
    });
  });
  document.getElementById("tools").hidden = false;
  filter();
})();
