// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/build.mjs — build of the page without data: HTML, and a .cpp with its bytes.
//
//   node build.mjs OUT_DIR
//
// The npm packages are next to this file, or in the folder that PATHS_PAGE_PACKAGES names. The
// output depends only on the sources and the lock file.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist');
const packages = process.env.PATHS_PAGE_PACKAGES ?? here;
const require = createRequire(join(packages, 'package.json'));
const { build } = require('esbuild');
const uplot = join(dirname(require.resolve('uplot')), '..');

async function bundle(entry) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [`src/${entry}`],
    bundle: true,
    nodePaths: [join(packages, 'node_modules')],
    minify: true,
    charset: 'utf8',
    legalComments: 'none', // licences() adds them to the page as text
    target: ['chrome109', 'firefox113', 'safari16.4'], // browsers with DecompressionStream
    write: false,
  });
  return result.outputFiles[0].text.trimEnd();
}

function licences() {
  const version = JSON.parse(readFileSync(join(uplot, 'package.json'), 'utf8')).version;
  const text = readFileSync(join(uplot, 'LICENSE'), 'utf8').replaceAll('\r', '').trim();
  return `uPlot ${version}\n\n${text}`;
}

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const script = (await bundle('main.ts')).replaceAll('</script', '<\\/script');
const parts = {
  '@STYLE@': await bundle('style.css'),
  '@LICENCES@': escaped(licences()),
  '@SCRIPT@': script,
};
let page = readFileSync(join(here, 'src/page.html'), 'utf8').replaceAll('\r', '');
for (const [mark, text] of Object.entries(parts)) page = page.replace(mark, () => text);

const bytes = Buffer.from(page, 'utf8');
const rows = [];
for (let at = 0; at < bytes.length; at += 32) rows.push(bytes.subarray(at, at + 32).join(','));
const source = `// Made by eventspace/page/web/build.mjs.
#include "eventspace/page/page.hpp"

namespace eventspace {
namespace {
constexpr unsigned char bytes[] = {
${rows.join(',\n')}};
}  // namespace

std::string_view page_template() {
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

}  // namespace eventspace
`;
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'page.html'), page);
writeFileSync(join(out, 'page_template.cpp'), source);
