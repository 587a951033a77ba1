// Begin with the data in the page.
"use strict";

window.app = new App(JSON.parse(document.getElementById("data").textContent));
