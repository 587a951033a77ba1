// Formulas and demands as functions of the sizes of the inputs. A value is a number, or [least, greatest] if only bounds are known.
"use strict";

const UNKNOWN = [-Infinity, Infinity];
const low = (value) => (typeof value === "number" ? value : value[0]);
const high = (value) => (typeof value === "number" ? value : value[1]);
// A number beyond those that are exact here counts as unknown.
function between(least, greatest) {
  if (least === greatest && Math.abs(least) <= Number.MAX_SAFE_INTEGER) return least;
  const bound = (end) => (Math.abs(end) > Number.MAX_SAFE_INTEGER ? Math.sign(end) * Infinity : end);
  return Number.isNaN(least) || Number.isNaN(greatest) ? UNKNOWN
    : [least === greatest ? -Infinity : bound(least), least === greatest ? Infinity : bound(greatest)];
}
const times = (a, b) => (a === 0 || b === 0 ? 0 : a * b);
function hull(values) { return between(Math.min(...values), Math.max(...values)); }

const OPERATIONS = {
  "+": (a, b) => between(low(a) + low(b), high(a) + high(b)),
  "*": (a, b) => hull([times(low(a), low(b)), times(low(a), high(b)), times(high(a), low(b)), times(high(a), high(b))]),
  "//": (a, b) => {
    if (low(b) <= 0 && high(b) >= 0) return b === 0 ? null : UNKNOWN;
    return hull([low(a), high(a)].flatMap((x) => [low(b), high(b)].map((y) =>
      Number.isFinite(y) ? Math.floor(x / y) : Number.isFinite(x) ? (x === 0 || (x > 0) === (y > 0) ? 0 : -1) : NaN)));
  },
  min: (a, b) => between(Math.min(low(a), low(b)), Math.min(high(a), high(b))),
  max: (a, b) => between(Math.max(low(a), low(b)), Math.max(high(a), high(b))),
  broadcast: (a, b) => (a === 1 ? b : low(a) > 1 || high(a) < 1 || b === 1 ? a : hull([low(a), high(a), low(b), high(b)])),
};

// Whether a relation holds: true, false, or null if it depends on sizes that are not known.
function holds(kind, a, b) {
  if (a === null || b === null) return false;
  const exact = typeof a === "number" && typeof b === "number";
  const apart = high(a) < low(b) || high(b) < low(a);
  if (kind === "ge") return low(a) >= high(b) ? true : high(a) < low(b) ? false : null;
  if (kind === "eq") return exact ? a === b : apart ? false : null;
  if (kind === "div") return exact ? b !== 0 && a % b === 0 : b === 1 ? true : b === 0 ? false : null;
  if (exact) return a === b || a === 1 || (kind === "broadcast" && b === 1);
  if (a === 1 || (kind === "broadcast" && b === 1)) return true;
  const isOne = (value) => low(value) <= 1 && high(value) >= 1;
  return apart && !isOne(a) && (kind === "stretch" || !isOne(b)) ? false : null;
}

// The sizes of a model for some sizes of its symbols; a formula is computed when it is asked for.
class Sizes {
  constructor(formulas, chosen) {
    this.formulas = formulas;
    this.chosen = chosen;
    this.values = new Map();
  }
  value(tree) {
    if (typeof tree === "number") return tree;
    if (Array.isArray(tree)) {
      const values = tree.slice(1).map((part) => this.value(part));
      return values.includes(null) ? null : values.reduce(OPERATIONS[tree[0]]);
    }
    // Formulas may build on each other thousands of levels deep, so names are looked up without recursion.
    const pending = [tree];
    while (!this.values.has(tree)) {
      const name = pending[pending.length - 1], needed = this.formulas.parts.get(name);
      const missing = (needed || []).filter((part) => !this.values.has(part));
      if (missing.length) pending.push(...missing);
      else {
        this.values.set(name, needed ? this.value(this.formulas.trees.get(name)) : this.symbol(name));
        pending.pop();
      }
    }
    return this.values.get(tree);
  }
  symbol(name) {
    if (this.chosen[name] !== undefined) return this.chosen[name];
    const [least, greatest] = this.formulas.ranges[name] || [0, null];
    return between(least === null ? -Infinity : least, greatest === null ? Infinity : greatest);
  }
  holds({ kind, a, b }) { return holds(kind, this.value(a), this.value(b)); }
}

// The names in a tree.
function namesIn(tree) {
  return typeof tree === "string" ? [tree] : Array.isArray(tree) ? tree.slice(1).flatMap(namesIn) : [];
}

class Formulas {
  constructor(data) {
    this.symbols = data.symbols;
    this.names = Object.keys(data.symbols);
    this.ranges = { ...data.unknown, ...data.symbols };
    this.trees = new Map(data.definitions);
    this.demands = data.demands;
    this.parts = new Map(data.definitions.map(([name, tree]) => [name, namesIn(tree)]));
    this.reads = new Map();
    // A formula stands after those that it reads, so that no name is looked up before its symbols are known.
    for (const [name, tree] of data.definitions) this.reads.set(name, this.symbolsOf(tree));
    this.depends = data.demands.map((demand) => new Set([...this.symbolsOf(demand.a), ...this.symbolsOf(demand.b)]));
  }
  symbolsOf(tree) {
    if (typeof tree === "number") return new Set();
    if (Array.isArray(tree)) return new Set(tree.slice(1).flatMap((part) => [...this.symbolsOf(part)]));
    return this.reads.get(tree) || new Set([tree]);
  }
  sizes(chosen) { return new Sizes(this, chosen); }
  fits(name, value) {
    const [least, greatest, modulus, remainder] = this.symbols[name];
    return (least === null || value >= least) && (greatest === null || value <= greatest) && (((value - remainder) % modulus) + modulus) % modulus === 0;
  }
  // The numbers of the demands that these sizes break.
  broken(chosen, numbers = this.demands.keys()) {
    const sizes = this.sizes(chosen);
    return [...numbers].filter((number) => sizes.holds(this.demands[number]) === false);
  }
  isValid(chosen) { return Object.entries(chosen).every(([name, value]) => this.fits(name, value)) && !this.broken(chosen).length; }

  // Up to `most` valid choices, those that change the sizes least first; only the symbols at fault change. They are sought among the next
  // sizes that no demand on one symbol alone refuses, then among the `usual` sizes of each symbol.
  nearest(chosen, usual, most = 4) {
    const faulty = new Set(Object.keys(chosen).filter((name) => !this.fits(name, chosen[name])));
    for (const number of this.broken(chosen)) for (const name of this.depends[number]) if (chosen[name] !== undefined) faulty.add(name);
    const alone = (name) => {
      const own = [...this.demands.keys()].filter((number) => this.depends[number].size === 1 && this.depends[number].has(name)), found = [];
      for (let away = 0; away <= 8192 && found.length < 16; away++) {
        for (const value of away ? [chosen[name] - away, chosen[name] + away] : [chosen[name]]) {
          if (value >= 0 && this.fits(name, value) && !this.broken({ [name]: value }, own).length) found.push(value);
        }
      }
      return found;
    };
    const awayOf = (choice) => [...faulty].reduce((sum, name) => sum + Math.abs(choice[name] - chosen[name]), 0);
    const nearer = (one, other) => awayOf(one) - awayOf(other);
    for (const sizesOf of faulty.size ? [alone, (name) => [...new Set([chosen[name], ...usual(name)])]] : []) {
      let choices = [{ ...chosen }];
      for (const name of faulty) {
        const sizes = sizesOf(name).sort((a, b) => Math.abs(a - chosen[name]) - Math.abs(b - chosen[name])).slice(0, 16);
        choices = choices.flatMap((choice) => sizes.map((size) => ({ ...choice, [name]: size }))).sort(nearer).slice(0, 600);
      }
      const found = [];
      for (const choice of choices) if (found.length < most && this.isValid(choice)) found.push(choice);
      if (found.length) return found;
    }
    return [];
  }
}

// A value in OpenVINO's notation: 5, 2..9, 3.., ..9 or ?.
function sizeText(value) {
  if (value === null) return "?";
  if (typeof value === "number") return String(value);
  const [least, greatest] = [Math.max(value[0], 0), value[1]];
  if (least === 0) return greatest === Infinity ? "?" : `..${greatest}`;
  return greatest === Infinity ? `${least}..` : `${least}..${greatest}`;
}
