// The colours of boxes: by what layers cost, by element type, or by changes of resolution.
"use strict";

class Colours {
  /** @param {any} app */
  constructor(app) { this.app = app; }
  of(item) { return ""; }
}
