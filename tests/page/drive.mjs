// SPDX-License-Identifier: Apache-2.0
// tests/page/drive.mjs — opens and uses pages in a headless Chromium, and prints what is wrong.
//
//   node drive.mjs FILE.html...
//
// The packages must be in this folder, or in the folder that PATHS_PAGE_TEST_PACKAGES names. The
// browser is Debian's Chromium, or the program that CHROMIUM names. With SCREENSHOTS=DIR, the
// script stores light and dark pictures of each section in DIR.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = process.env.PATHS_PAGE_TEST_PACKAGES ?? dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(here, "package.json"));
const { chromium } = require("playwright-core");
const axe = require("axe-core");
const first_paint_ms_max = 8000;
const ready_ms_max = 40000; // enough even on a machine under heavy load

const range = (page) => page.$eval("#timeline", (section) => section.view.range);
const width_of = async (page) => {
  const [from, to] = await range(page);
  return to - from;
};
const theme_of = (page) =>
  page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--card").trim());

/** Opens a page. `wrong` collects its console errors, exceptions and requests to other URLs. */
async function open(browser, file, scheme) {
  const page = await browser.newPage({
    viewport: { width: 1360, height: 900 },
    colorScheme: scheme,
    reducedMotion: "reduce", // smooth scrolling would move what is measured
  });
  const wrong = [];
  page.on(
    "console",
    (message) =>
      ["error", "warning"].includes(message.type()) && wrong.push(`console: ${message.text()}`),
  );
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  const url = `file://${resolve(file)}`;
  page.on(
    "request",
    (request) =>
      request.url() !== url &&
      !request.url().startsWith("data:") &&
      wrong.push(`request: ${request.url()}`),
  );
  const begin = Date.now();
  await page.goto(url);
  await page.waitForSelector("main[data-ready]", { timeout: 60000 });
  const ready = Date.now() - begin;
  const painted = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0].startTime,
  );
  return { page, wrong, ready, painted };
}

async function try_timeline(page) {
  if (!(await page.$("#timeline"))) return;
  const canvas = await page.$("#timeline .rows canvas");
  await canvas.scrollIntoViewIfNeeded();
  await page.click('#timeline button[aria-label="Show all of it"]');
  const all = await width_of(page);
  await page.click('#timeline button[aria-label="Zoom in"]');
  assert((await width_of(page)) < all, "the button zooms in");
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const before = await width_of(page);
  await canvas.focus();
  await page.mouse.wheel(0, -300);
  await page.waitForTimeout(100);
  assert((await width_of(page)) < before, "the wheel zooms in");
  const [left] = await range(page);
  await page.keyboard.press("ArrowRight");
  assert((await range(page))[0] > left, "a key moves on");
  const [at] = await range(page);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  assert((await range(page))[0] < at, "dragging moves back");
  await page.keyboard.press("0");
  assert(Math.abs((await width_of(page)) - all) < 1, "a key shows all again");
  const said = () => page.textContent("#timeline p[role=status]");
  const first = await said();
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await said(), first, "the chosen row is said in words");
  for (const level of ["2", "1", "0"]) {
    await page.selectOption("#timeline .controls select", level);
    await page.waitForTimeout(50);
  }
}

/** Selects parts of the run by dragging: in the overview, and in the ruler above the rows. */
async function try_selection(page) {
  const overview = await page.$("#timeline .minimap canvas");
  if (!overview) return;
  await page.click('#timeline button[aria-label="Show all of it"]');
  await overview.scrollIntoViewIfNeeded();
  const all = await width_of(page);
  const drag = async (box, y, from, to) => {
    await page.mouse.move(box.x + box.width * from, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * to, y, { steps: 4 });
    await page.mouse.up();
  };
  let box = await overview.boundingBox();
  await drag(box, box.y + box.height / 2, 0.5, 0.75);
  const [from, to] = await range(page);
  assert(Math.abs(from / all - 0.5) < 0.03, `the part begins at half of the run, not at ${from}`);
  assert(Math.abs((to - from) / all - 0.25) < 0.03, "a quarter of the run is selected");
  box = await (await page.$("#timeline .rows canvas")).boundingBox();
  await drag(box, box.y + 8, 0.5, 0.8);
  const [begin, end] = await range(page);
  assert(begin > from && end < to, "the ruler selects a part of that");
}

/** Goes from each finding to its place in the timeline. */
async function try_jumps(page) {
  const buttons = page.locator("#findings .place button");
  for (let number = 0; number < (await buttons.count()); ++number) {
    await page.click('#timeline button[aria-label="Show all of it"]');
    const all = await width_of(page);
    await buttons.nth(number).click();
    const finding = await buttons.nth(number).evaluate((one) => one.closest("li").textContent);
    const row = await page.$eval("#timeline", (section) => section.view.row);
    const host = row.replace(/\/.*/, "");
    const is_of_link = finding.includes("link ") || finding.includes("forward");
    assert(finding.includes(host) || is_of_link, `${row} is the row of: ${finding}`);
    if ((await page.textContent("#timeline")).includes("one clock of all hosts"))
      assert((await width_of(page)) < all / 2, "the time of the finding is shown");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "CANVAS");
  }
}

/** Checks the marks of a change and of damage if the file name begins with "changed". */
async function try_change(page, file) {
  if (!basename(file).startsWith("changed")) return;
  assert.equal(await page.getAttribute("main section:first-of-type", "id"), "damage");
  const losses = await page.$$eval("#damage li", (all) => all.map((one) => one.textContent));
  assert.deepEqual(losses.slice(0, 2), ["no file of 1 host: beta-3", "beta-1: 3 damaged places"]);
  const sentence = (await page.textContent("#findings .change .sentence")).trim();
  assert.match(sentence, /thread .* computes .* longer from/);
  const chart = await page.getAttribute("#time figure.chart", "aria-label");
  assert(chart.includes(sentence), "the chart of iterations tells the change");
  const times = /longer from ([0-9.]+) s on/.exec(sentence);
  await page.click("#findings .change button");
  const [from, to] = await range(page);
  assert(from < times[1] * 1e9 && times[1] * 1e9 < to, "the timeline shows when it changed");
}

/** Checks that nothing is wider than the page, except what scrolls in its own box. */
async function check_widths(page) {
  for (const width of [390, 700, 1240, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(100);
    const wide = await page.evaluate(
      (most) =>
        [...document.querySelectorAll("body *")]
          .filter((one) => !one.closest(".scroll, .tree, .rows") && !one.closest(".uplot"))
          .filter((one) => one.getBoundingClientRect().right > most + 1)
          .map((one) => `${one.tagName} ${one.className} ${one.closest("section")?.id}`),
      width,
    );
    assert.deepEqual(wide, [], `at ${width} px`);
  }
  await page.setViewportSize({ width: 1360, height: 900 });
}

async function try_tables(page) {
  await page.click("#tables [role=tab]:first-child");
  const head = page.locator("#tables [role=tabpanel]:not([hidden]) thead th").nth(2);
  const column = () =>
    page.$$eval("#tables [role=tabpanel]:not([hidden]) tbody tr td:nth-child(3)", (cells) =>
      cells.map((cell) => parseFloat(cell.textContent.replaceAll(",", ""))),
    );
  await head.locator("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  let values = await column();
  assert.deepEqual(
    values,
    [...values].sort((a, b) => b - a),
    "sorted, greatest first",
  );
  await head.locator("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  values = await column();
  assert.deepEqual(
    values,
    [...values].sort((a, b) => a - b),
    "sorted, least first",
  );
  assert(values.length <= 25, "a page of rows");
  if ((await page.locator("#tables [role=tab]").count()) < 2) return;
  await page.focus("#tables [role=tab]:first-child");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getAttribute("#tables [role=tab]:nth-child(2)", "aria-selected"), "true");
}

/** Checks the chart of concurrent messages if the file name begins with "streams". */
async function try_transfers(page, file) {
  if (!basename(file).startsWith("streams")) return;
  const chart = page.locator("#transfers figure.chart");
  await chart.scrollIntoViewIfNeeded();
  await page.waitForSelector("#transfers canvas");
  const words = await chart.getAttribute("aria-label");
  assert.match(words, /all: at most \d+, .* in the mean of the run/);
  assert.match(words, /alpha to beta: at most \d+ of 4/);
  const lines = await page.$$eval("#transfers .u-legend .u-series", (all) => all.length);
  assert.equal(lines, 1 + 1 + 6, "time, all, and the six paths that were used most");
  const drawn = await page.$eval("#transfers canvas", (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value > 0);
  });
  assert(drawn, "the chart is drawn");
  const rows = await page.$$eval("#transfers table:not(.u-legend) tbody tr", (all) => all.length);
  assert.equal(rows, 12, "a row for each path");
}

async function try_tree(page) {
  const nodes = () => page.$$eval("#tree .node", (all) => all.length);
  const before = await nodes();
  assert(before <= 200, `a tree one can take in, not ${before} nodes`);
  const toggle = page.locator("#tree .toggle[aria-expanded=false]").first();
  if ((await toggle.count()) === 0) return;
  await toggle.focus();
  await page.keyboard.press("Enter");
  assert((await nodes()) > before, "a key opens more of the tree");
  await page.locator("#tree .node.join").first().focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.closest("section")?.id), "joins");
}

async function try_theme(page) {
  const system = await theme_of(page);
  await page.click("#theme");
  const light = await theme_of(page);
  await page.click("#theme");
  assert.notEqual(await theme_of(page), light, "dark is not light");
  await page.click("#theme");
  assert.equal(await theme_of(page), system);
}

async function check_access(page) {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() =>
    window.axe.run({
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    }),
  );
  assert.deepEqual(
    found.violations.map(
      (one) => `${one.id}: ${one.help} (${one.nodes.length}, ${one.nodes[0].html.slice(0, 160)})`,
    ),
    [],
  );
}

async function take_pictures(page, file, scheme) {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  const name = join(folder, `${basename(file, ".html")}-${scheme}`);
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${name}.png` });
  for (const section of await page.$$("main section"))
    await section.screenshot({ path: `${name}-${await section.getAttribute("id")}.png` });
}

async function drive(browser, file) {
  for (const scheme of ["light", "dark"]) {
    const { page, wrong, ready, painted } = await open(browser, file, scheme);
    await take_pictures(page, file, scheme);
    await check_access(page);
    await page.setViewportSize({ width: 390, height: 800 });
    await check_access(page);
    await page.setViewportSize({ width: 1360, height: 900 });
    if (scheme === "light") {
      for (const attempt of [
        try_theme,
        try_timeline,
        try_selection,
        try_jumps,
        try_change,
        try_tables,
        try_transfers,
        try_tree,
        check_widths,
      ])
        await attempt(page, file);
    }
    assert.deepEqual(wrong, []);
    assert(painted < first_paint_ms_max, `first paint after ${painted} ms`);
    assert(ready < ready_ms_max, `ready after ${ready} ms`);
    console.log(
      `${basename(file)}, ${scheme}: first paint ${Math.round(painted)} ms, ready ${ready} ms`,
    );
    await page.close();
  }
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  for (const file of process.argv.slice(2)) await drive(browser, file);
} finally {
  await browser.close();
}
