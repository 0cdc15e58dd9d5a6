// Builds the package into `dist`: one ES module and one file of declarations for each entry, the files that several share, and the web page.
// `node tools/build.mjs page` builds the web page only.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { build as buildWithVite } from 'vite';
import { chunksOf } from './chunks.mjs';

/** The entries of the package: the name of each file in `dist`, and its source. */
const entries = {
  index: 'src/index.ts',
  client: 'src/client/index.ts',
  ports: 'src/ports/index.ts',
  functions: 'adapters/functions/index.ts',
  hcl: 'src/hcl/index.ts',
  jobs: 'src/jobs/index.ts',
  scheduler: 'src/scheduler/index.ts',
  receiver: 'src/receiver.ts',
  testing: 'adapters/testing/index.ts',
  conformance: 'test/conformance/index.ts',
  memory: 'adapters/memory/index.ts',
  sqlite: 'adapters/sqlite/index.ts',
  postgres: 'adapters/postgres/index.ts',
  node: 'adapters/node/index.ts',
  prometheus: 'adapters/prometheus/index.ts',
  opentelemetry: 'adapters/opentelemetry/index.ts',
  undici: 'adapters/undici/index.ts',
  smtp: 'adapters/smtp/index.ts',
  'http-server': 'adapters/compat/index.ts',
  runner: 'adapters/runner/index.ts',
};
const commandLine = 'adapters/cli/main.ts';

const dist = 'dist';
/** The declarations of all files as the compiler writes them. The API report is made from them, too. */
const declared = 'tmp/declarations';
/** The modules in each built file, for tests. */
const contentsFile = 'tmp/contents.json';
const pageContentsFile = 'tmp/page-contents.json';
const { resolve } = createRequire(import.meta.url);

/** Packages that are bundled; all others are loaded as installed. */
const builtIn = ['neverthrow'];
const external = (id) => /^[a-z@]/i.test(id) && !builtIn.includes(id);

/** A source with one character beyond ASCII takes twice the memory in V8, and more time to decode. Only `String.raw` would show the difference. */
const inAscii = {
  name: 'in-ascii',
  generateBundle(_, bundle) {
    for (const [name, chunk] of Object.entries(bundle)) {
      const escaped = chunk.code.match(/\\[^\0-\x7f].{0,20}/);
      if (escaped !== null) throw new Error(`${name}: a backslash before a character beyond ASCII: ${escaped[0]}`);
      chunk.code = chunk.code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    }
  },
};

/** Names of functions and classes are kept, for stack traces. */
async function buildModules() {
  let fileOf = new Map();
  const divide = {
    name: 'divide',
    buildEnd() {
      fileOf = filesOf(this);
    },
  };
  const bundle = await rolldown({
    input: { ...entries, cli: commandLine },
    platform: 'node',
    // Required by the manual chunks. A test in `test/package` checks that entries have no additional exports.
    preserveEntrySignatures: 'allow-extension',
    external,
    resolve: { mainFields: ['module', 'main'] },
    treeshake: { moduleSideEffects: false },
    plugins: [divide, inAscii],
  });
  const { output } = await bundle.write({
    dir: dist,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: 'shared', name: (id) => fileOf.get(id) ?? null }],
    },
    minify: {
      compress: true,
      mangle: { toplevel: true, keepNames: { function: true, class: true } },
      codegen: { removeWhitespace: true },
    },
  });
  await bundle.close();
  writeContents(contentsFile, output);
}

function writeContents(file, output) {
  const contents = output.map(({ fileName, moduleIds = [] }) => [fileName, moduleIds.map((id) => relative('.', id))]);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(Object.fromEntries(contents)));
}

/** The web page into `dist/web`, each file also compressed; `index.html` is completed for each answer. */
async function buildPage() {
  process.env.NODE_ENV = 'production';
  const { output } = await buildWithVite({ configFile: 'web/vite.config.ts', logLevel: 'warn' });
  writeContents(pageContentsFile, output);
  for (const { fileName } of output) {
    if (fileName === 'index.html') continue;
    const file = join(dist, 'web', fileName);
    const content = readFileSync(file);
    const size = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, ...size } }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

/** The shared file of each module, chosen so that the main entry and the command line load fast. */
function filesOf(build, usesNode = () => false) {
  const modules = new Map();
  const roots = new Map();
  // The order in which they were read differs from build to build.
  for (const id of [...build.getModuleIds()].sort()) {
    const { code, importedIds, dynamicallyImportedIds, isEntry, isExternal } = build.getModuleInfo(id);
    if (isExternal || code === null) continue;
    const source = relative('.', id);
    if (isEntry) roots.set(id, { [entries.index]: 60, [entries.client]: 5, [commandLine]: 10 }[source] ?? 2);
    for (const other of dynamicallyImportedIds) {
      if (!roots.has(other)) roots.set(other, other.endsWith('/all-operations.ts') ? 5 : 1);
    }
    const imports = importedIds.filter((other) => !external(other));
    modules.set(id, { size: code.length, imports, ofNode: imports.length < importedIds.length || usesNode(code) });
  }
  return chunksOf(modules, new Map([...roots].filter(([id]) => modules.has(id))));
}

function compileDeclarations() {
  const compiler = resolve('typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

async function buildDeclarations() {
  const input = Object.entries(entries).map(([name, source]) => [
    name,
    join(declared, source.replace(/\.ts$/, '.d.ts')),
  ]);
  let fileOf = new Map();
  const divide = {
    name: 'divide',
    buildEnd() {
      fileOf = filesOf(this, (code) => /\bBuffer\b|NodeJS\./.test(code));
    },
  };
  const bundle = await rollup({
    input: Object.fromEntries(input),
    external,
    // The omitted step would make entries import types from each other.
    plugins: [carriedDeclarations, { ...dts(), generateBundle: undefined }, divide],
  });
  await bundle.write({
    dir: dist,
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'types/[name].d.ts',
    manualChunks: (id) => fileOf.get(id),
    minifyInternalExports: false,
    plugins: [finished],
  });
  await bundle.close();
}

/** Declarations of bundled packages. A private member would make the type incompatible with that of other copies, whose results work as well. */
const carriedDeclarations = {
  name: 'carried-declarations',
  resolveId: (id) => (id === 'neverthrow' ? join(dirname(resolve('neverthrow')), 'index.d.ts') : null),
  transform: (code, id) => (id.includes('neverthrow') ? code.replace(/^\s*private _promise;\n/m, '') : null),
};

const finished = {
  name: 'finished',
  renderChunk: async (code, { isEntry, name }) => {
    // Compilers read reference directives only at the top of a file.
    const references = new Set(code.match(/^\/\/\/ <reference .*$/gm));
    const rest = code.replace(/^\/\/\/ <reference .*\n/gm, '');
    // `Uint8Array` has no type parameter before TypeScript 5.7; the removed one is its default.
    const readable = rest.replaceAll('Uint8Array<ArrayBufferLike>', 'Uint8Array');
    return [...references, isEntry ? await withTypesMarked(readable, name) : readable].join('\n');
  },
};

/** Marks exports without a run-time value as types, such as a class of which only the type is public. */
async function withTypesMarked(code, name) {
  const values = new Set(Object.keys(await import(pathToFileURL(join(dist, `${name}.js`)).href)));
  return code.replace(/^export \{([^}]*)\}/gm, (_, list) => {
    const marked = list.split(',').map((each) => {
      const specifier = each.trim().replace(/^type /, '');
      return values.has(specifier.split(' as ').at(-1)) ? specifier : `type ${specifier}`;
    });
    return `export { ${marked.join(', ')} }`;
  });
}

function writeSchema() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, 'cli.js'), 'config', '--schema'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  writeFileSync(join(dist, 'signalbox.schema.json'), stdout);
}

if (process.argv[2] === 'page') await buildPage();
else {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  await buildModules();
  compileDeclarations();
  await buildDeclarations();
  writeSchema();
  await buildPage();
}
