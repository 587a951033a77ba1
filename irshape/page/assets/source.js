// Faults in the text of the file: their lines, what a fix changes, and what the rule says.
"use strict";

/** @param {any} fault @param {any} rules */
function faultDetails(fault, rules) {
  const parts = [], { source, diff } = fault, rule = rules[fault.code];
  if (source) {
    const bare = indentOf(source.lines);
    parts.push(element("pre", { class: "source", "aria-label": `the file at line ${source.fault}` }, ...source.lines.map((line, at) => {
      const number = element("span", { class: "number" }, `${source.line + at} `.padStart(6));
      if (source.line + at !== source.fault) return element("div", {}, number, line.slice(bare));
      return element("div", { class: "at" }, number, line.slice(bare, source.from), element("span", { class: "underlined" }, line.slice(source.from, source.to)), line.slice(source.to));
    })));
  }
  if (fault.hint) parts.push(element("p", { class: "faint" }, `hint: ${fault.hint}`));
  if (fault.fix) parts.push(element("p", {}, `fix: ${fault.fix}`));
  const own = diff ? indentOf(diff.map(([, text]) => text)) : 0;
  if (diff && diff.length) parts.push(element("pre", { class: "source", "aria-label": "what the fix changes" }, ...diff.map(([mark, text]) => element("div", { class: mark === "-" ? "minus" : mark === "+" ? "plus" : "" }, `${mark} ${text.slice(own)}`))));
  if (rule) {
    const [title, meaning, why, remedy] = rule;
    parts.push(element("details", { class: "rule" }, element("summary", {}, `${fault.code}: ${title}`), element("p", {}, meaning), element("p", {}, why), element("p", {}, remedy)));
  }
  return parts;
}

// The blanks with which all lines begin.
/** @param {string[]} lines */
function indentOf(lines) { return Math.min(...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)), 60); }

// Faults of the same code with the same words but for numbers and names have one cause.
/** @param {any[]} faults @returns {number[][]} */
function byCause(faults) {
  const found = new Map();
  faults.forEach((fault, number) => {
    const cause = `${fault.code} ${fault.message.replace(/'[^']*'|\[[^\]]*\]|\d+/g, "·")}`;
    if (!found.has(cause)) found.set(cause, []);
    found.get(cause).push(number);
  });
  return [...found.values()];
}
