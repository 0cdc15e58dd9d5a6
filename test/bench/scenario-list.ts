import type { Measured } from './scenarios/store-slices.js';

export interface Scenario {
  readonly name: string;
  run(): Promise<readonly Measured[]>;
}

/** Every scenario, loaded when it runs. */
export const scenarios: readonly Scenario[] = [
  { name: 'import.cold', run: async () => (await import('./scenarios/import-cold.js')).run() },
  {
    name: 'validate.job',
    run: async () => {
      const cost = (await import('./scenarios/validate-job.js')).validateJob();
      return [
        row('validate.job', cost.parseAndDecode, cost.parse, 'µs', cost.ratio, { max: cost.limit }),
        row('validate.job, with all rules', cost.parseAndPrepare, cost.parse, 'µs', cost.prepareRatio, {}),
      ];
    },
  },
  { name: 'store.mem', run: async () => (await import('./scenarios/store-mem.js')).run() },
  { name: 'store.sqlite', run: async () => (await import('./scenarios/store-sqlite.js')).run() },
  { name: 'http', run: async () => (await import('./scenarios/http.js')).run() },
  { name: 'http.dispatch', run: async () => (await import('./scenarios/http-dispatch.js')).run() },
  { name: 'deliver.sqlite', run: async () => (await import('./scenarios/deliver.js')).deliverSqlite() },
  { name: 'deliver.drain', run: async () => (await import('./scenarios/deliver.js')).deliverDrain() },
  { name: 'deliver.memory', run: async () => (await import('./scenarios/deliver.js')).deliverMemory() },
  {
    name: 'deliver.guard',
    run: async () => {
      const cost = await (await import('./scenarios/deliver-guard.js')).deliverGuard();
      return [row(cost.name, cost.guarded, cost.unguarded, 'µs', cost.ratio, { max: cost.limit })];
    },
  },
  { name: 'schedule', run: async () => (await import('./scenarios/schedule.js')).run() },
  { name: 'engine.block', run: async () => (await import('./scenarios/engine-block.js')).run() },
  { name: 'engine.start', run: async () => (await import('./scenarios/engine-start.js')).run() },
  { name: 'runner.dispatch', run: async () => (await import('./scenarios/runner-dispatch.js')).run() },
  { name: 'functions', run: async () => (await import('./scenarios/functions.js')).run() },
  { name: 'pg.write', run: async () => (await import('./scenarios/postgres.js')).writes() },
  { name: 'pg.cost', run: async () => (await import('./scenarios/postgres.js')).cost(true) },
  { name: 'pg.batch', run: async () => (await import('./scenarios/postgres.js')).cost(false) },
  { name: 'pg.read', run: async () => (await import('./scenarios/postgres.js')).reads() },
  { name: 'pg.processes', run: async () => (await import('./scenarios/postgres.js')).processes() },
  { name: 'pg.wake', run: async () => (await import('./scenarios/postgres.js')).wake() },
  { name: 'pg.snapshot', run: async () => (await import('./scenarios/postgres.js')).snapshot() },
  { name: 'pg.bystander', run: async () => (await import('./scenarios/postgres.js')).bystander() },
  { name: 'pg.size', run: async () => (await import('./scenarios/postgres.js')).size() },
  { name: 'pg.stall', run: async () => (await import('./scenarios/postgres.js')).stall() },
  { name: 'pg.fleet', run: async () => (await import('./scenarios/postgres.js')).fleet() },
  { name: 'pg.deliver', run: async () => (await import('./scenarios/postgres-queues.js')).deliveries() },
  { name: 'pg.takeover', run: async () => (await import('./scenarios/postgres-queues.js')).takeover() },
  { name: 'history', run: async () => (await import('./scenarios/history.js')).run() },
  { name: 'filter', run: async () => (await import('./scenarios/filter.js')).run() },
  {
    name: 'hcl',
    run: async () => {
      const cost = await (await import('./scenarios/hcl.js')).run();
      return cost.rows.map(({ name, milliseconds }) => {
        const max = cost.limits[name];
        return row(`hcl: ${name}`, milliseconds, Number.NaN, 'ms', milliseconds, max === undefined ? {} : { max });
      });
    },
  },
];

function row(
  name: string,
  ours: number,
  floor: number,
  unit: string,
  ratio: number,
  limit: Measured['limit'],
): Measured {
  return { name, ours, floor, unit, ratio, limit };
}
