// SPDX-License-Identifier: Apache-2.0
// tests/page/words.mjs — comparison of the words and figures of a page with the text and the JSON.
//
//   node words.mjs FILE.html FILE.txt FILE.json
//
// Checks the headline, the iterations, the division of time, and the findings. drive.mjs describes
// how packages and browser are found.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = process.env.PATHS_PAGE_TEST_PACKAGES ?? dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(here, "package.json"));
const { chromium } = require("playwright-core");

const [file, text_file, json_file] = process.argv.slice(2);
const text = readFileSync(text_file, "utf8").split("\n");
const json = JSON.parse(readFileSync(json_file, "utf8"));
const seconds = (nanos) => `${(nanos / 1e9).toFixed(6)} s`;
const percent = (share) => `${(100 * share).toFixed(3)}%`;

/** Returns the rows below a heading of the text as [what, time, share, most]. */
function rows_of_text(heading) {
  const rows = [];
  const first = text.findIndex((line) => line.startsWith(heading)) + 1;
  assert(first > 0, `the text has: ${heading}`);
  for (const line of text.slice(first)) {
    const row = /^ +([0-9.]+%) +([0-9.]+ s)  (.*?)(?:  \(most: (.*)\))?$/.exec(line);
    if (!row) break;
    rows.push([row[3], row[2], row[1], row[4] ?? ""]);
  }
  return rows;
}
// A wait for computing or noise names the thread for which the others waited.
const is_wait_for_threads = (row) => row.operation && /^(computing|noise)$/.test(row.cause);
const rows_of_json = (rows) =>
  rows.map((row) => [
    row.operation ? `${row.operation}: ${row.text}` : row.text,
    seconds(row.nanos),
    percent(row.share),
    row.most
      ? `${is_wait_for_threads(row) ? "for " : ""}${row.most}, ${seconds(row.most_nanos)}`
      : "",
  ]);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const page = await browser.newPage();
  await page.goto(`file://${resolve(file)}`);
  await page.waitForSelector("main[data-ready]", { timeout: 60000 });
  const all = (selector) =>
    page.$$eval(selector, (found) => found.map((one) => one.textContent.trim()));
  const { time, findings } = json;
  const has_line = (words) =>
    assert(
      text.some((line) => line.includes(words)),
      `the text has: ${words}`,
    );

  assert.deepEqual(await all("#time .headline"), [time.headline]);
  has_line(time.headline);
  const [sensitivity] = await all("#time .sensitivity");
  assert((sensitivity ?? "").startsWith(time.sensitivity));
  if (sensitivity) has_line(`  ${sensitivity}`);
  assert.deepEqual(await all("#time .advice"), time.advice ? [time.advice] : []);
  has_line(time.advice);

  const [answer] = await all("#time .what-if");
  assert.equal(answer !== undefined, time.what_if !== undefined);
  if (answer) {
    const { run_nanos, saved_nanos, largest } = time.what_if;
    has_line(`  the run takes ${seconds(run_nanos)} instead of ${seconds(time.run_nanos)}: `);
    for (const figure of [run_nanos, time.run_nanos, Math.abs(saved_nanos)])
      assert(answer.includes(seconds(figure)), answer);
    assert(answer.includes(largest));
  }

  const { iterations } = time;
  const ms = (nanos) => `${(nanos / 1e6).toFixed(6)} ms`;
  const tiles = [seconds(time.run_nanos)];
  if (iterations.count > 0) {
    const { mean, p50, p99 } = iterations.length_nanos;
    tiles.push(iterations.count.toLocaleString("en"), ms(mean), ms(p50), ms(p99));
    has_line(
      `The run took ${tiles[0]}: ${iterations.count} iterations of ${tiles[2]} (mean; median ` +
        `${(p50 / 1e6).toFixed(6)}, p99 ${(p99 / 1e6).toFixed(6)})`,
    );
  }
  assert.deepEqual(await all("#time .tile dd"), tiles);

  const tables = page.locator("#time .table");
  const headings = ["Where the time went", "The critical path"];
  const parts = [time.rows, time.critical_path ?? []];
  for (const [number, heading] of headings.entries()) {
    if (parts[number].length === 0) continue;
    const shown = await tables
      .nth(number)
      .locator("tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent.trim())),
      );
    const expected = rows_of_json(parts[number]);
    assert(shown.length > 0);
    assert.deepEqual(shown, expected.slice(0, shown.length), `${heading}: page and JSON`);
    const printed = rows_of_text(heading);
    assert(printed.length > 0);
    assert.deepEqual(printed, expected.slice(0, printed.length), `${heading}: text and JSON`);
  }
  const bars = await page.$$eval("#time .stack", (found) =>
    found.map((one) => one.getAttribute("aria-label")),
  );
  assert.deepEqual(
    bars,
    parts
      .filter((rows) => rows.length > 0)
      .map((rows) => rows.map((row) => rows_of_json([row])[0]))
      .map((rows) => rows.map(([what, , share]) => `${what} ${share}`).join(", ")),
  );

  const shown = Math.min(5, findings.length);
  assert.deepEqual(
    await all("#findings .sentence"),
    findings.slice(0, shown).map((finding) => finding.sentence),
  );
  for (const finding of findings.slice(0, shown)) has_line(finding.sentence);
  const costs = await all("#findings .cost");
  for (const cost of costs) has_line(`     ${cost}`);
  assert.equal(
    costs.length,
    findings.slice(0, shown).filter((one) => one.cost_nanos > 0 || one.predicted).length,
  );
  if (findings.length === 0) has_line((await all("#findings > p"))[0]);
} finally {
  await browser.close();
}
