import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type ESTree, type Plugin, parseSync, Visitor } from 'vite';

/** The shell, its parts and rules, and the client; not the editor and the screens, which are loaded when they are first shown. */
const inEveryScreen =
  /\/web\/(?:app\/(?!pattern)|parts\/(?:dialog|form|marks|table|text|toasts|view)|rules\/(?:durations|rights|safe))|\/web\/job-rules|\/src\/(?:client|api|shared|options|jobs\/status)|node_modules\/(?:@?preact|neverthrow)/;

const root = fileURLToPath(new URL('.', import.meta.url));

/** Members and strings in the sources of the page. The name of each call that the page makes is one of them. */
const named = new Set(
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => readFileSync(join(root, name), 'utf8').match(/(?<=[.'])\w+/g) ?? []),
);

/** The members of a row that only servers and documents use. Clients use the answers of streams. */
const ofServers =
  /^(?:summary|errors|absent|answer|alias|alwaysPaged|closeCodes|contentType|framesType|leaderHeaders|optionalBody)$/;

function membersOf({ properties }: ESTree.ObjectExpression) {
  return properties.flatMap((each) =>
    each.type === 'Property' && each.key.type === 'Identifier' ? [{ ...each, name: each.key.name }] : [],
  );
}

/**
 * The table of calls without what only servers and documents use of its rows and answers, and without the other sentences. Of the calls
 * that the page does not make it has the names, which can be chosen where policies are tried.
 */
const callsOfPage: Plugin = {
  name: 'calls-of-page',
  enforce: 'pre',
  transform(code, id) {
    if (!id.includes('/src/api/calls/')) return null;
    let left = code;
    // Of the same length, so that positions remain valid.
    const replace = (start: number, end: number, by = ''): void => {
      left = left.slice(0, start) + by.padEnd(end - start) + left.slice(end);
    };
    const remove = (members: readonly ESTree.Span[]): void => {
      for (const { start, end } of members) replace(start, code[end] === ',' ? end + 1 : end);
    };
    new Visitor({
      Literal({ value, start, end }) {
        if (typeof value === 'string' && /^[A-Z]\S* .* /.test(value)) replace(start, end, "''");
      },
      'ObjectExpression:exit'(object) {
        const members = membersOf(object);
        if (members.some(({ name }) => name === 'toWire')) remove(members.filter(({ name }) => name !== 'fromWire'));
      },
      'Property:exit'({ key, value }) {
        if (value.type !== 'CallExpression' || value.callee.type !== 'Identifier' || key.type !== 'Identifier') return;
        const [row] = value.arguments;
        const members = row?.type === 'ObjectExpression' ? membersOf(row) : [];
        if (!members.some(({ name }) => name === 'access')) return;
        if (!named.has(key.name)) return replace(value.start, value.end, 'null');
        const isStream = value.callee.name.startsWith('stream');
        remove(members.filter(({ name }) => ofServers.test(name) && !(name === 'answer' && isStream)));
      },
    }).visit(parseSync(id, code).program);
    return left;
  },
};

/** The page as static files in `dist/web`. Their names have a hash of their content; addresses are relative to the `base` of the document. */
export default defineConfig({
  root,
  base: './',
  publicDir: false,
  plugins: [callsOfPage],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: { alias: { 'signalbox/client': fileURLToPath(new URL('../src/client/index.ts', import.meta.url)) } },
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    // Of browsers with light-dark(): what would be built for older ones follows the system, not the colour scheme that a host of a portal has chosen.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What every screen uses is one file: a browser begins with few requests.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'page', test: inEveryScreen }] } } },
  },
});
