/*
 * Load on functions of the service: rates, and the processor time that a run cost. Functions that do nothing, in one process, over
 * memory, over SQLite with full durability and over PostgreSQL; round by round beside other packages, when they and their servers are there.
 *
 *   node test/bench/load/functions-load.mjs [--runs N] [--rounds N] [--only TEXT] [--peers FOLDER] [--json]
 *     [--keys N] [--ended N] [--waiting N]
 *
 * Build first (`npm run build`). --runs is the number of runs of a row (5,000), --rounds how often all is measured; the median is
 * shown. --only selects systems by a part of their name; several parts are separated by commas. PostgreSQL is measured when
 * `SIGNALBOX_LOAD_POSTGRES` is its URL, and then a row has the functions in another process than the one that enqueues. --peers is a folder
 * whose node_modules have bullmq with ioredis, pg-boss or graphile-worker; they are measured against `SIGNALBOX_LOAD_REDIS` and
 * `SIGNALBOX_LOAD_POSTGRES` (URLs). With `SIGNALBOX_LOAD_REDIS_PID` and `SIGNALBOX_LOAD_POSTGRES_PID` processor times include those of the
 * server and its children. graphile-worker is measured as it comes (64 jobs at once, 20 connections), and with its local queue of 500 and
 * completion in batches.
 *
 * Rows beside the plain one, in the same rounds, with their ratio to it: --keys N has a limit of one run for each of N keys, --ended N
 * begins with a store that has N ended runs. --waiting N shows what is resident in a process that runs functions of which N wait, and in
 * the one that has enqueued them.
 */
import { fork, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '../../..');
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    peers: { type: 'string' },
    json: { type: 'boolean', default: false },
    keys: { type: 'string', default: '0' },
    ended: { type: 'string', default: '0' },
    waiting: { type: 'string', default: '0' },
    // What the tool starts itself: a process that enqueues into a store, and one that runs what is there.
    fill: { type: 'string' },
    hold: { type: 'string' },
    // A process that runs what the one that has started it enqueues: name of the system, and of its place on the server.
    work: { type: 'string' },
    place: { type: 'string', default: `load_${process.pid}` },
  },
});
const runs = Number(values.runs);
const keys = Number(values.keys);
const ended = Number(values.ended);
const waiting = Number(values.waiting);
const callers = 64;
const atOnce = 64;

const { place } = values;

const rowNames = ['enqueue, 64', 'enqueue, in', 'drain', 'enqueue to', '50 a', '50 from', 'waiting'];
const order = (row) => rowNames.findIndex((name) => row.startsWith(name));

const postgres = { url: process.env.SIGNALBOX_LOAD_POSTGRES, pid: process.env.SIGNALBOX_LOAD_POSTGRES_PID };

const built = (name) => import(pathToFileURL(join(root, 'dist', `${name}.js`)).href);

/*
 * A system has `open(round)`, which gives a session: `enqueue(n)` and `enqueueMany(list)` resolve when it is durable; `start(work)`
 * runs `work(n)` for what is queued and resolves with a function that stops it; `recorded(n)` resolves when the end of that run is
 * durable, and is called before it is enqueued.
 */
const openMemory = async () => (await built('memory')).memoryStorage();
if (values.fill !== undefined) await fill(values.fill);
if (values.hold !== undefined) await hold(values.hold);

const systems = [
  { name: 'memory', open: () => openOwn(openMemory) },
  ...(keys === 0 ? [] : [{ name: `memory, ${keys} keys`, open: () => openOwn(openMemory, keys) }]),
  { name: 'sqlite', open: () => openOwn(openSqlite) },
  ...(keys === 0 ? [] : [{ name: `sqlite, ${keys} keys`, open: () => openOwn(openSqlite, keys) }]),
  ...(ended === 0 ? [] : [{ name: `sqlite, over ${ended} ended`, open: () => openOwn(openEnded) }]),
  ...(postgres.url === undefined
    ? []
    : [{ name: 'postgres', server: postgres.pid, open: (round) => openOwn(() => openPostgres(round)) }]),
  ...(postgres.url === undefined || keys === 0
    ? []
    : [
        {
          name: `postgres, ${keys} keys`,
          server: postgres.pid,
          open: (round) => openOwn(() => openPostgres(`${round}k`), keys),
        },
      ]),
  await peer('bullmq', 'SIGNALBOX_LOAD_REDIS', openBullmq),
  await peer('pg-boss', 'SIGNALBOX_LOAD_POSTGRES', openPgBoss),
  await peer('graphile-worker', 'SIGNALBOX_LOAD_POSTGRES', openGraphile),
  await peer('graphile-worker, batched', 'SIGNALBOX_LOAD_POSTGRES', openBatchedGraphile),
].filter((system) => isChosen(system?.name));
if (values.work !== undefined) await workForAnother(values.work);

const results = new Map();
let endedFolder;
for (let round = 0; round < Number(values.rounds); round += 1)
  // Each begins a round in turn: the first one compiles what the others use too.
  for (const at of systems.keys()) await measureAll(systems[(at + round) % systems.length], round);
if (waiting > 0) measureWaiting();
print();
printRatios();
if (endedFolder !== undefined) rmSync(endedFolder, { recursive: true, force: true });
// Pools and threads of the peers may still be open.
process.exit(0);

async function measureAll(system, round) {
  const session = await system.open(round);
  try {
    await rate(system, 'enqueue, 64 callers', runs, () => inParallel(runs, (n) => session.enqueue(n)));
    const hundreds = Array.from({ length: (2 * runs) / 100 }, (_none, at) =>
      Array.from({ length: 100 }, (_also, n) => runs + 100 * at + n),
    );
    await rate(system, 'enqueue, in hundreds', 2 * runs, () =>
      inParallel(hundreds.length, (at) => session.enqueueMany(hundreds[at])),
    );
    await rate(system, 'drain', 3 * runs, async () => {
      const all = counter(3 * runs);
      const stop = await session.start(all.count);
      await all.reached;
      await stop();
    });
    let work = () => undefined;
    const stop = await session.start((n) => work(n));
    const first = 10 * runs;
    await rate(system, 'enqueue to recorded end, 64 callers', runs, () =>
      inParallel(runs, async (n) => {
        const recorded = session.recorded(first + n);
        await session.enqueue(first + n);
        await recorded;
      }),
    );
    const began = new Map();
    work = (n) => void began.set(n, performance.now());
    await steady(system, session, began);
    await stop();
    if (system.server !== undefined && !system.name.startsWith('bullmq')) await steadyElsewhere(system, session, round);
  } finally {
    await session.close();
  }
}

/** Fifty a second for three seconds: the time from the call until the handler begins in another process, which has worked for a while. */
async function steadyElsewhere(system, session, round) {
  const count = 150;
  const first = 30 * runs;
  const args = ['--work', `${round} ${system.name}`, '--place', place, '--keys', values.keys];
  if (values.peers !== undefined) args.push('--peers', values.peers);
  const worker = fork(import.meta.filename, args);
  const asked = new Map();
  const starts = [];
  const warm = counter(runs);
  const all = counter(count);
  await new Promise((ready, fail) => {
    worker.once('exit', () => fail(new Error('the other process has ended')));
    worker.on('message', (message) => {
      if (message === 'ready') return ready();
      if (message.n < first) return;
      if (message.n < first + runs) return warm.count();
      starts.push(message.at - asked.get(message.n));
      all.count();
    });
  });
  await inParallel(runs, (n) => session.enqueue(first + n));
  await warm.reached;
  for (let n = first + runs; n < first + runs + count; n += 1) {
    await new Promise((wake) => setTimeout(wake, 20));
    asked.set(n, performance.timeOrigin + performance.now());
    await session.enqueue(n);
  }
  await all.reached;
  worker.removeAllListeners('exit');
  const gone = new Promise((exit) => worker.once('exit', exit));
  worker.send('stop');
  await gone;
  note(system, '50 from another process', { 'start p50 ms': at(starts, 0.5), 'start p99 ms': at(starts, 0.99) });
}

/** The other process: says when each run begins. */
async function workForAnother(given) {
  const [, round, name] = /^(\S+) (.*)$/.exec(given);
  const session = await systems.find((system) => system.name === name).open(round);
  const stop = await session.start((n) => process.send({ n, at: performance.timeOrigin + performance.now() }));
  process.on('message', () => void stop().then(() => process.exit(0)));
  process.send('ready');
  await new Promise(() => undefined);
}

function isChosen(name) {
  if (values.work !== undefined) return name === values.work.replace(/^\S+ /, '');
  return values.only.split(',').some((part) => name?.includes(part));
}

/** Fifty a second for three seconds: the time from the call until the handler begins, and until the end is recorded. */
async function steady(system, session, began) {
  const count = 150;
  const first = 20 * runs;
  const starts = [];
  const ends = [];
  const before = processor(system);
  const open = Array.from({ length: count }, async (_none, n) => {
    await new Promise((wake) => setTimeout(wake, 20 * n));
    const asked = performance.now();
    const recorded = session.recorded(first + n);
    await session.enqueue(first + n);
    await recorded;
    ends.push(performance.now() - asked);
    starts.push(began.get(first + n) - asked);
  });
  await Promise.all(open);
  const cpu = (processor(system) - before) / count;
  note(system, '50 a second', {
    'start p50 ms': at(starts, 0.5),
    'start p99 ms': at(starts, 0.99),
    'end p50 ms': at(ends, 0.5),
    'end p99 ms': at(ends, 0.99),
    'cpu µs': 1e6 * cpu,
  });
}

async function rate(system, row, count, work) {
  const before = processor(system);
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  note(system, row, { '/s': count / seconds, 'cpu µs': (1e6 * (processor(system) - before)) / count });
}

/** Calls with 0, 1, 2 … by so many callers, each of which waits for its answer. */
async function inParallel(count, call) {
  let next = 0;
  const caller = async () => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

function counter(count) {
  let left = count;
  let reach;
  const reached = new Promise((done) => {
    reach = done;
  });
  return {
    reached,
    count: () => {
      left -= 1;
      if (left === 0) reach();
    },
  };
}

/** Seconds of processor time of this process, and of the server that the system needs. */
function processor({ server }) {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (server === undefined ? 0 : processorOfTree(server));
}

function processorOfTree(pid) {
  let ticks = 0;
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const fields = statOf(entry);
    if (fields === undefined) continue;
    if (entry === pid || fields[1] === pid) ticks += Number(fields[11]) + Number(fields[12]);
    // What those used that have ended.
    if (entry === pid) ticks += Number(fields[13]) + Number(fields[14]);
  }
  return ticks / 100;
}

/** The fields after the name; undefined for a process that has ended. */
function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  } catch {
    return undefined;
  }
}

function note({ name }, row, measured) {
  for (const [unit, value] of Object.entries(measured)) {
    const key = JSON.stringify([row, name, unit]);
    results.set(key, [...(results.get(key) ?? []), value]);
  }
}

function print() {
  const rows = new Map();
  for (const [key, list] of results) {
    const [row, name, unit] = JSON.parse(key);
    const title = `${row} | ${name}`;
    rows.set(title, { ...rows.get(title), [unit]: Number(at(list, 0.5).toPrecision(3)) });
  }
  for (const [name, figures] of [...rows].sort(([a], [b]) => order(a) - order(b))) {
    if (values.json) console.log(JSON.stringify({ row: name, ...figures }));
    else {
      const shown = Object.entries(figures).map(([unit, value]) => `${value.toLocaleString('en')} ${unit}`);
      console.log(`${name.padEnd(54)} ${shown.join('  ')}`);
    }
  }
}

/** What a row reaches beside the plain one of the same store, by rate and by processor time: more is better. */
function printRatios() {
  for (const [key, list] of results) {
    const [row, name, unit] = JSON.parse(key);
    const [base, way] = name.split(/, (.*)/);
    const plain = results.get(JSON.stringify([row, base, unit]));
    if (way === undefined || plain === undefined || (unit !== '/s' && unit !== 'cpu µs')) continue;
    const ratio = Number(((at(list, 0.5) / at(plain, 0.5)) ** (unit === '/s' ? 1 : -1)).toPrecision(3));
    if (values.json) console.log(JSON.stringify({ ratio: `${row} | ${name}`, unit, value: ratio }));
    else console.log(`${`${row} | ${name}`.padEnd(54)} ${ratio} of ${base} (${unit})`);
  }
}

function at(list, share) {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

function newFolder() {
  return mkdtempSync(join(tmpdir(), 'signalbox-load-'));
}

async function storeIn(file) {
  const opened = await (await built('sqlite')).sqliteStorage(file);
  if (opened.isErr()) throw new Error(opened.error.message);
  return opened.value;
}

async function openSqlite() {
  const folder = newFolder();
  const storage = await storeIn(join(folder, 'store.sqlite'));
  return Object.assign(storage, { remove: () => rmSync(folder, { recursive: true, force: true }) });
}

async function openPostgres(round) {
  const opened = await (await built('postgres')).postgresStorage(postgres.url, { schema: `${place}_${round}` });
  if (opened.isErr()) throw new Error(opened.error.message);
  return opened.value;
}

/** The store with many ended runs, which is made once. */
async function openEnded() {
  if (endedFolder !== undefined) return storeIn(join(endedFolder, 'store.sqlite'));
  endedFolder = newFolder();
  const storage = await storeIn(join(endedFolder, 'store.sqlite'));
  const session = await openOwn(() => storage);
  const stop = await session.start(() => undefined);
  const recorded = session.recorded(0);
  await session.enqueue(0);
  await recorded;
  await stop();
  await copyEnded(storage);
  return storage;
}

/** Writes the row of the one run that there is again and again, each under another number, in big writes. */
async function copyEnded(storage) {
  const { build } = await import('esbuild');
  const module = join(endedFolder, 'tables.mjs');
  const entry = join(root, 'src/functions/run.ts');
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  writeFileSync(module, outputFiles[0].contents);
  const tables = await import(pathToFileURL(module).href);
  const [row] = (
    await storage.read((view) => view.list(tables.runs, { limit: 1 }).map(({ record }) => record))
  )._unsafeUnwrap();
  for (let left = ended; left > 0; left -= 5000) {
    const written = await storage.write((tx) => {
      for (let n = 0; n < Math.min(left, 5000); n += 1) tx.put(tables.runs, { ...row, number: tx.nextIndex() });
      return ok();
    });
    if (written.isErr()) throw new Error(written.error.message);
  }
  const counted = await storage.write((tx) => {
    const [counts] = tx.list(tables.functionCounts, { limit: 1 }).map(({ record }) => record);
    tx.put(tables.functionCounts, { ...counts, succeeded: counts.succeeded + ended });
    return ok();
  });
  if (counted.isErr()) throw new Error(counted.error.message);
}

/** The success of a write, as far as a storage looks at it. */
function ok() {
  return { isErr: () => false, isOk: () => true, value: undefined };
}

async function engineOver(storage) {
  const [{ createEngine }, { recordingDelivery }, { randomIds, systemClock }] = await Promise.all(
    ['index', 'memory', 'node'].map(built),
  );
  const clock = systemClock();
  return createEngine({ storage, clock, ids: randomIds(), delivery: recordingDelivery({ clock }) });
}

/** A function that does nothing itself; with keys, each of them has one run at once. */
async function definedNoop(handler, limited = 0) {
  const { defineFunction } = await built('functions');
  const concurrency = limited === 0 ? {} : { concurrency: { limit: 1, key: ({ n }) => `key ${n % limited}` } };
  return defineFunction({ name: 'noop', keep: { succeeded: { count: 100_000_000 } }, ...concurrency }, handler);
}

/** A process that enqueues: what it has resident at most. */
async function fill(file) {
  const storage = await storeIn(file);
  const { createFunctions } = await built('functions');
  const noop = await definedNoop(undefined, keys);
  const functions = createFunctions(await engineOver(storage), [noop]);
  for (let first = 0; first < waiting; first += 10_000) {
    const inputs = Array.from({ length: Math.min(10_000, waiting - first) }, (_none, n) => ({ n: first + n }));
    await functions.enqueueMany(noop, inputs);
  }
  await storage.close();
  console.log(process.resourceUsage().maxRSS / 1024);
  process.exit(0);
}

/** A process that runs as many as it can of runs that do not end: what it has resident. */
async function hold(file) {
  const storage = await storeIn(file);
  const { createFunctions } = await built('functions');
  const began = counter(atOnce);
  const noop = await definedNoop(() => {
    began.count();
    return new Promise(() => undefined);
  }, keys);
  const functions = createFunctions(await engineOver(storage), [noop], { concurrency: atOnce });
  const since = performance.now();
  await functions.start();
  await began.reached;
  const first = performance.now() - since;
  await new Promise((wake) => setTimeout(wake, 3000));
  console.log(JSON.stringify({ rss: process.memoryUsage.rss() / 2 ** 20, first }));
  process.exit(0);
}

function measureWaiting() {
  for (const limited of keys === 0 ? [0] : [0, keys]) {
    const folder = newFolder();
    const file = join(folder, 'store.sqlite');
    const run = (...given) => {
      const args = [import.meta.filename, '--waiting', String(waiting), '--keys', String(limited), ...given];
      const { stdout, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      return JSON.parse(stdout);
    };
    const enqueued = run('--fill', file);
    const { rss, first } = run('--hold', file);
    const name = limited === 0 ? 'sqlite' : `sqlite, ${limited} keys`;
    note({ name }, `waiting, ${waiting}`, {
      'MB running': rss,
      'MB enqueuing': enqueued,
      'start of all slots ms': first,
    });
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openOwn(openStorage, limited = 0) {
  const { createFunctions } = await built('functions');
  const storage = await openStorage();
  const engine = await engineOver(storage);
  let work;
  const noop = await definedNoop(({ n }) => void work?.(n), limited);
  const caller = createFunctions(engine, [noop]);
  let running = caller;
  const ends = new Map();
  return {
    enqueue: async (n) => {
      const run = await running.enqueue(noop, { n });
      const end = ends.get(n);
      if (end !== undefined) void run.result().then(end);
    },
    enqueueMany: (list) =>
      running.enqueueMany(
        noop,
        list.map((n) => ({ n })),
      ),
    recorded: (n) => new Promise((end) => ends.set(n, end)),
    start: async (does) => {
      work = does;
      running = createFunctions(engine, [noop], { concurrency: atOnce });
      await running.start();
      return async () => {
        await running.stop();
        running = caller;
      };
    },
    close: async () => {
      await storage.close();
      storage.remove?.();
    },
  };
}

/** A system of another package; undefined, with a line that says why, when it or its server is not there. */
async function peer(name, variable, open) {
  const url = process.env[variable];
  const left = (why) => console.log(`${name} is left out: ${why}`);
  if (!isChosen(name)) return undefined;
  if (url === undefined) return left(`${variable} is not set`);
  const require = createRequire(join(resolve(values.peers ?? root), 'package.json'));
  try {
    const loaded = await import(pathToFileURL(require.resolve(name.replace(/, .*/, ''))).href);
    const library = { ...loaded.default, ...loaded };
    if (values.work === undefined) await (await open(library, url, 'try')).close();
    return { name, server: process.env[`${variable}_PID`], open: (round) => open(library, url, round) };
  } catch (error) {
    return left(error instanceof Error ? error.message.split('\n')[0] : String(error));
  }
}

/** Ends by their number, for systems that say in an event that an end is recorded. */
function ends() {
  const waiting = new Map();
  return {
    recorded: (n) => new Promise((end) => waiting.set(n, end)),
    end: (n) => {
      waiting.get(n)?.();
      waiting.delete(n);
    },
  };
}

async function openBullmq({ Queue, Worker }, url, round) {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port || 6379), maxRetriesPerRequest: null };
  const name = `${place}-${round}`;
  const queue = new Queue(name, { connection, defaultJobOptions: { removeOnComplete: { count: 10_000 } } });
  await Promise.race([queue.waitUntilReady(), rejectIn(3000, 'Redis does not answer')]);
  const { recorded, end } = ends();
  return {
    recorded,
    enqueue: (n) => queue.add('noop', { n }),
    enqueueMany: (list) => queue.addBulk(list.map((n) => ({ name: 'noop', data: { n } }))),
    start: async (work) => {
      const worker = new Worker(name, async ({ data }) => void work(data.n), { connection, concurrency: atOnce });
      worker.on('completed', ({ data }) => end(data.n));
      await worker.waitUntilReady();
      return () => worker.close();
    },
    close: async () => {
      await queue.obliterate({ force: true });
      await queue.close();
    },
  };
}

async function openPgBoss({ PgBoss }, url, round) {
  const boss = new PgBoss({ connectionString: url, schema: `${place}_boss` });
  boss.on('error', () => undefined);
  await boss.start();
  const name = `load-${round}`;
  await boss.createQueue(name);
  const { recorded, end } = ends();
  return {
    recorded,
    enqueue: (n) => boss.send(name, { n }),
    enqueueMany: (list) =>
      boss.insert(
        name,
        list.map((n) => ({ data: { n } })),
      ),
    // Fetches by itself, so that the moment is known in which an end is recorded.
    start: async (work) => {
      let isOver = false;
      const loop = (async () => {
        while (!isOver) {
          const jobs = (await boss.fetch(name, { batchSize: 200 })) ?? [];
          if (jobs.length === 0) await new Promise((wake) => setTimeout(wake, 2));
          for (const { data } of jobs) work(data.n);
          if (jobs.length > 0)
            await boss.complete(
              name,
              jobs.map(({ id }) => id),
            );
          for (const { data } of jobs) end(data.n);
        }
      })();
      return () => {
        isOver = true;
        return loop;
      };
    },
    close: async () => {
      await boss.deleteQueue(name);
      await boss.stop({ graceful: false });
    },
  };
}

function openBatchedGraphile(library, url) {
  return openGraphile(library, url, { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 });
}

async function openGraphile({ makeWorkerUtils, run, Logger }, url, worker) {
  const logger = new Logger(() => () => undefined);
  const settings = { connectionString: url, schema: `${place}_graphile`, logger };
  const utils = await makeWorkerUtils(settings);
  await utils.migrate();
  const { recorded, end } = ends();
  return {
    recorded,
    enqueue: (n) => utils.addJob('noop', { n }),
    enqueueMany: (list) => utils.addJobs(list.map((n) => ({ identifier: 'noop', payload: { n } }))),
    start: async (work) => {
      const taskList = { noop: ({ n }) => void work(n) };
      const own =
        worker === undefined
          ? { concurrency: atOnce, maxPoolSize: 20 }
          : { preset: { worker: { ...worker, concurrentJobs: atOnce, maxPoolSize: 20 } } };
      const runner = await run({ ...settings, ...own, noHandleSignals: true, taskList });
      // It comes before the end is recorded.
      runner.events.on('job:complete', ({ job }) => end(job.payload.n));
      return () => runner.stop();
    },
    close: () => utils.release(),
  };
}

function rejectIn(milliseconds, message) {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(message)), milliseconds);
  });
}
