import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** The shell, its parts and rules, and the client; not the editor and the screens, which are loaded when they are first shown. */
const inEveryScreen =
  /\/web\/(?:app\/(?!pattern)|parts\/(?:dialog|marks|table|text|toasts|view)|rules\/(?:durations|rights|safe))|\/web\/job-rules|\/src\/(?:client|api|shared|options|jobs\/status)|node_modules\/(?:@?preact|neverthrow)/;

/** Sentences in the table of calls are for documents. They are string literals, unlike those in comments and templates. */
const literals = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|`[^`]*`|'(?:[^'\\\n]|\\.)*'/g;
const withoutSentences = {
  name: 'without-sentences',
  enforce: 'pre' as const,
  transform: (code: string, id: string) =>
    id.includes('/src/api/calls/')
      ? code.replaceAll(literals, (each) => (/^'[A-Z]\S* .* /.test(each) ? "''" : each))
      : null,
};

/** The page as static files in `dist/web`. Their names have a hash of their content; addresses are relative to the `base` of the document. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  publicDir: false,
  plugins: [withoutSentences],
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
