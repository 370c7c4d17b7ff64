// SPDX-License-Identifier: Apache-2.0
// tests/page/edges.mjs — check of edges in the trees of pages: how many have the class `late`, for
// a contributor that was often the last to arrive.
//
//   node edges.mjs FILE.html=COUNT...
//
// Fails if the number of such edges on a page is not COUNT. drive.mjs describes how packages and
// browser are found.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = process.env.PATHS_PAGE_TEST_PACKAGES ?? dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(here, "package.json"));
const { chromium } = require("playwright-core");

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  for (const argument of process.argv.slice(2)) {
    const [file, expected] = argument.split("=");
    const page = await browser.newPage();
    await page.goto(`file://${resolve(file)}`);
    await page.waitForSelector("main[data-ready]", { timeout: 60000 });
    const late = await page.$$eval("#tree .edge path.late", (edges) =>
      edges.map((edge) => edge.parentElement.querySelector("title").textContent),
    );
    assert.equal(late.length, Number(expected), `${file}: ${late.join("; ")}`);
  }
} finally {
  await browser.close();
}
