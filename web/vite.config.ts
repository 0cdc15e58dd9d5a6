import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, parseSync, Visitor } from 'vite';

/** The shell, its parts and rules, and the client; not the editor and the screens, which are loaded when they are first shown. */
const inEveryScreen =
  /\/web\/(?:app\/(?!pattern)|parts\/(?:dialog|marks|table|text|toasts|view)|rules\/(?:durations|rights|safe))|\/web\/job-rules|\/src\/(?:client|api|shared|options|jobs\/status)|node_modules\/(?:@?preact|neverthrow)/;

/** The members of a row of the table of calls that only servers and documents use. Clients use the answers of streams. */
const ofServers = /^(?:summary|errors|absent|answer)$/;

/** The table of calls without those members, and without the other sentences for documents. */
const callsOfClients: Plugin = {
  name: 'calls-of-clients',
  enforce: 'pre',
  transform(code, id) {
    if (!id.includes('/src/api/calls/')) return null;
    let left = code;
    // Of the same length, so that positions remain valid.
    const replace = (start: number, end: number, by = ''): void => {
      left = left.slice(0, start) + by.padEnd(end - start) + left.slice(end);
    };
    new Visitor({
      Literal({ value, start, end }) {
        if (typeof value === 'string' && /^[A-Z]\S* .* /.test(value)) replace(start, end, "''");
      },
      'CallExpression:exit'({ callee, arguments: [row] }) {
        if (callee.type !== 'Identifier' || row?.type !== 'ObjectExpression') return;
        const members = row.properties.flatMap((each) =>
          each.type === 'Property' && each.key.type === 'Identifier' ? [{ ...each, name: each.key.name }] : [],
        );
        if (!members.some(({ name }) => name === 'access')) return;
        for (const { name, start, end } of members)
          if (ofServers.test(name) && !(name === 'answer' && callee.name.startsWith('stream')))
            replace(start, code[end] === ',' ? end + 1 : end);
      },
    }).visit(parseSync(id, code).program);
    return left;
  },
};

/** The page as static files in `dist/web`. Their names have a hash of their content; addresses are relative to the `base` of the document. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  publicDir: false,
  plugins: [callsOfClients],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: { alias: { 'signalbox/client': fileURLToPath(new URL('../src/client/index.ts', import.meta.url)) } },
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What every screen uses is one file: a browser begins with few requests.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'page', test: inEveryScreen }] } } },
  },
});
