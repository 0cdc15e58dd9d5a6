import { defineConfig, type Options } from 'tsup';

const entry = {
  index: 'src/index.ts',
  client: 'src/client/index.ts',
  ports: 'src/ports/index.ts',
  hcl: 'src/hcl/index.ts',
  jobs: 'src/jobs/index.ts',
  receiver: 'src/receiver.ts',
  testing: 'adapters/testing/index.ts',
  conformance: 'test/conformance/index.ts',
  memory: 'adapters/memory/index.ts',
  sqlite: 'adapters/sqlite/index.ts',
  node: 'adapters/node/index.ts',
  prometheus: 'adapters/prometheus/index.ts',
  opentelemetry: 'adapters/opentelemetry/index.ts',
  undici: 'adapters/undici/index.ts',
  smtp: 'adapters/smtp/index.ts',
  'http-server': 'adapters/http-server/index.ts',
  runner: 'adapters/runner/index.ts',
  cli: 'adapters/cli/main.ts',
};

const common: Options = {
  entry,
  target: 'node20',
  platform: 'node',
  dts: false,
  clean: true,
  shims: true,
  // Without the prefix `node:sqlite` would name a package.
  removeNodeProtocol: false,
  // Both load as scripts, and the first script among the modules of a process costs more than all of their code. A caller's own
  // copy of neverthrow works with the results: nothing looks at their class.
  noExternal: ['eventemitter3', 'neverthrow'],
  footer: {
    js: '/*! May carry eventemitter3 (MIT, (c) 2014 Arnout Kazemier) and neverthrow (MIT, (c) 2019 Giorgio Delgado); see THIRD-PARTY-NOTICES.md. */',
  },
  esbuildOptions: (options) => {
    options.mainFields = ['module', 'main'];
  },
};

/**
 * Shared chunks for modules, with maps that carry the sources for stack traces and debuggers. Scripts get whole files, as splitting those
 * would rewrite the code a second time; and no maps, which would be as large as all of the rest.
 */
export default defineConfig([
  { ...common, format: 'esm', splitting: true, sourcemap: true },
  { ...common, format: 'cjs', splitting: false, clean: false },
]);
