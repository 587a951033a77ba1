// Begin with the data in the page, and take newer data from the server when the file is saved.
"use strict";

async function follow(number) {
  for (;;) {
    try {
      const answer = await fetch(`data?after=${number}`);
      if (answer.status === 200) {
        const data = await answer.json();
        number = data.number;
        window.app.update(data);
      } else if (answer.status !== 204) throw new Error(String(answer.status));
      window.app.say("");
    } catch {
      window.app.say("The server does not answer. The page shows the last version that it had.");
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}
const data = JSON.parse(document.getElementById("data").textContent);
window.app = new App(data);
follow(data.number);
