import { defineConfig, type Options } from 'tsup';

const entry = {
  index: 'src/index.ts',
  ports: 'src/ports/index.ts',
  hcl: 'src/hcl/index.ts',
  receiver: 'src/receiver.ts',
  testing: 'adapters/testing/index.ts',
  conformance: 'test/conformance/index.ts',
  memory: 'adapters/memory/index.ts',
  sqlite: 'adapters/sqlite/index.ts',
  node: 'adapters/node/index.ts',
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
  // Both load as scripts, and the first script among the modules of a process costs more than all of their code. They stay
  // dependencies for their types. A caller's own copy of neverthrow works with the results: nothing looks at their class.
  noExternal: ['eventemitter3', 'neverthrow'],
  footer: {
    js: '/*! May carry eventemitter3 (MIT, (c) 2014 Arnout Kazemier) and neverthrow (MIT, (c) 2019 Giorgio Delgado); see THIRD-PARTY-NOTICES.md. */',
  },
  esbuildOptions: (options) => {
    // Less text to compile at the start of every process; names stay, so that stack traces can be read.
    options.minifyWhitespace = true;
    options.mainFields = ['module', 'main'];
  },
};

/** Shared chunks for modules. Scripts get whole files: splitting those would rewrite the code a second time. */
export default defineConfig([
  { ...common, format: 'esm', splitting: true },
  { ...common, format: 'cjs', splitting: false, clean: false },
]);
