import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests of rules and operations leave nothing behind: the files of one worker share their modules, which halves the run. */
const shared = [
  ...[
    'access',
    'agent',
    'api',
    'channels',
    'events',
    'filter',
    'functions',
    'golden',
    'hcl',
    'jobs',
    'json-schema',
    'metrics',
    'notifications',
    'operations',
  ],
  ...['options', 'properties', 'queries', 'queue', 'replay', 'scheduler', 'services', 'shared', 'templates'],
  ...['variables', 'versions', 'client', 'web'],
  ...[
    'cli',
    'functions',
    'http-server',
    'memory',
    'node',
    'opentelemetry',
    'prometheus',
    'smtp',
    'testing',
    'undici',
  ].map((adapter) => `adapters/${adapter}`),
]
  .map((folder) => `test/${folder}/**/*.test.ts`)
  // Virtual time that waits for a real disk is disturbed by what other tests of the worker have left running.
  .concat('test/adapters/runner/**/!(lost-server).test.ts');

/** Walks over tables of routes, without a socket. `npm run test:node24:edges` leaves them out: they are the same on every version of Node. */
const walks = ['declared', 'null-walk', 'open-api-fuzz', 'calls/route-table'].map(
  (name) => `test/adapters/http-server/${name}.test.ts`,
);
const leftOut = process.env['SIGNALBOX_EDGES'] === undefined ? [] : walks;

/** Faults that are injected for minutes: kills, full disks, random installations. `npm run test:campaigns` runs them. */
const campaigns = [
  ...['test/campaigns/**/*.test.ts', 'test/simulation/**/*.test.ts'],
  ...['test/adapters/sqlite/crash.test.ts', 'test/adapters/sqlite/delivery-crash.test.ts'],
];

/** What is packed and documented, over the built package and whole programs of types. `npm run test:package` runs them. */
const packaged = [
  ...['package', 'docs', 'examples'].map((folder) => `test/${folder}/**/*.test.ts`),
  ...['test/architecture/dropped-results.test.ts', 'test/architecture/unused-exports.test.ts'],
  'test/adapters/http-server/generated-client.test.ts',
];

/** Compilers, and faults at full load, leave nothing to another worker. */
const busy = { maxWorkers: '100%', sequence: { groupOrder: 1 } };

/** They share a server. */
const postgres = 'test/adapters/postgres/**/*.test.ts';
const server = ['test/adapters/postgres/global-setup.ts'];

/** Another version of `pg`, by its folder: `npm run test:postgres`. */
const pg = process.env['SIGNALBOX_PG'];

/**
 * The sources are modules of Node itself, as in use: what Vitest wraps takes longer to load and to run. Not while files are watched: a
 * change would not be seen.
 */
const native = process.argv.includes('run') && pg === undefined;
const sources = new RegExp(`^${import.meta.dirname.replace(/[^\w/]/g, '\\$&')}/(?:src|adapters)/`);

export default defineConfig({
  resolve: { alias: pg === undefined ? {} : { pg: `${pg}/lib/index.js` } },
  test: {
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    // Longer than anything takes on a machine with much other work: they end what hangs, and so does the limit of polls.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    ...(native && {
      execArgv: ['--import', join(import.meta.dirname, 'test/support/modules/register.mjs')],
      server: { deps: { external: [sources] } },
    }),
    // Campaigns and the other versions of Node read what `npm test` has compiled.
    experimental: { fsModuleCache: true },
    pool: 'forks',
    // Many tests wait for processes and sockets: with one worker more than processors, none of these idles.
    maxWorkers: availableParallelism() + 1,
    projects: [
      { extends: true, test: { name: 'rules', include: shared, exclude: [...packaged, ...leftOut], isolate: false } },
      {
        extends: true,
        test: {
          name: 'adapters',
          include: ['test/**/*.test.ts'],
          exclude: [...shared, ...packaged, ...campaigns, postgres],
        },
      },
      { extends: true, test: { name: 'postgres', include: [postgres], globalSetup: server } },
      { extends: true, test: { name: 'package', include: packaged, globalSetup: server, ...busy } },
      { extends: true, test: { name: 'campaigns', include: campaigns, ...busy } },
    ],
  },
});
