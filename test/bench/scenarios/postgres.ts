import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ok } from 'neverthrow';
import type { Storage } from '../../../src/ports/storage.js';
import {
  address,
  byCallers,
  connection,
  drop,
  floorIn,
  newId,
  newSchema,
  putShared,
  register,
  shared,
  storeIn,
} from './postgres-writes.js';
import { compareRates, type Measured, quantile, type Slice } from './store-slices.js';

const callers = 64;

/** Runs with what a scenario opens, and removes it. */
export async function withStore<T>(run: (storage: Storage, schema: string) => Promise<T>): Promise<T> {
  const schema = newSchema();
  const storage = await storeIn(schema);
  try {
    return await run(storage, schema);
  } finally {
    await storage.close();
    await drop(schema);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** 64 callers, and one at 50 a second, beside batched inserts by hand. */
export async function writes(): Promise<readonly Measured[]> {
  const schema = newSchema();
  const floor = await floorIn(schema);
  try {
    return await withStore(async (storage) => {
      const byHand = byCallers(callers, floor.write);
      const many = byCallers(callers, () => register(storage));
      const reading = byCallers(callers, () => register(storage, true));
      return [
        await compareRates('pg.write64', many, byHand, { min: 0.55 }),
        await compareRates('pg.register64', reading, byHand, { min: 0.4 }),
        await steady(storage, floor.write),
      ];
    });
  } finally {
    floor.close();
    await drop(schema);
  }
}

/** Fifty a second, in turn with the floor. */
async function steady(storage: Storage, write: () => Promise<void>): Promise<Measured> {
  const times = { ours: [] as number[], floor: [] as number[] };
  for (let n = 0; n < 200; n += 1)
    for (const [of, call] of [
      ['ours', () => register(storage)],
      ['floor', write],
    ] as const) {
      await pause(10);
      const began = performance.now();
      await call();
      times[of].push(performance.now() - began);
    }
  const [ours, floor] = [quantile(times.ours, 0.5), quantile(times.floor, 0.5)];
  return { name: 'pg.write1 at 50/s, p50', ours, floor, ratio: ours / floor, unit: 'ms', limit: { max: 1.7 } };
}

/** Processor time of Node and of the server, where that runs on this machine: what a busy machine does not change. */
export async function cost(isWhole: boolean): Promise<readonly Measured[]> {
  const server = await serverTime();
  const schema = newSchema();
  const floor = await floorIn(schema);
  try {
    return await withStore(async (storage, schema) => {
      const known = newId();
      await putShared(storage, known, 'x'.repeat(300));
      const read = async (): Promise<void> => {
        (await storage.read((view) => view.get(shared, [known])))._unsafeUnwrap();
      };
      const rows: Measured[] = [];
      const measured = [
        ['a write of 64', () => register(storage), floor.write, callers],
        ['a write alone', () => register(storage), floor.write, 1],
        ['a read alone', read, undefined, 1],
      ] as const;
      for (const [name, ours, byHand, of] of measured.slice(0, isWhole ? measured.length : 1)) {
        const own = await costs(byCallers(of, ours), byHand && byCallers(of, byHand), server);
        for (const [at, where] of ['Node', 'server'].entries()) {
          const [mine = Number.NaN, theirs = Number.NaN] = own.map((each) => each[at] as number);
          const ratio = byHand === undefined ? mine : mine / theirs;
          rows.push({ name: `pg.cost, ${name}: ${where}`, ours: mine, floor: theirs, ratio, unit: 'µs', limit: {} });
        }
      }
      return isWhole ? [...rows, await foreignWrites(storage, schema)] : rows;
    });
  } finally {
    floor.close();
    await drop(schema);
  }
}

/** What a process that waits for changes pays for each write of another one. */
async function foreignWrites(storage: Storage, schema: string): Promise<Measured> {
  const other = await Other.on(schema);
  const over = new AbortController();
  const watching = (async () => {
    for (let after = 0; !over.signal.aborted; ) after = await storage.waitForChange([shared], after, over.signal);
  })();
  await other.write(1000);
  const before = process.cpuUsage();
  const done = await other.write(2000);
  const { user, system } = process.cpuUsage(before);
  over.abort();
  await watching;
  await other.end();
  const ours = (user + system) / done;
  return { name: 'pg.cost, a foreign write: Node', ours, floor: Number.NaN, ratio: ours, unit: 'µs', limit: {} };
}

/** Microseconds of Node and of the server for one operation of each, in turn. */
async function costs(
  ours: Slice,
  floor: Slice | undefined,
  server: () => number,
): Promise<readonly (readonly [number, number])[]> {
  const lists = (floor === undefined ? [ours] : [ours, floor]).map((slice) => ({
    slice,
    node: [] as number[],
    server: [] as number[],
  }));
  for (let round = 0; round < 14; round += 1)
    for (const list of lists) {
      const before = { node: process.cpuUsage(), server: server() };
      const done = await list.slice(250);
      const { user, system } = process.cpuUsage(before.node);
      // Compilers have to see some thousand calls first.
      if (round < 4) continue;
      list.node.push((user + system) / done);
      list.server.push((server() - before.server) / done);
    }
  return lists.map((list) => [quantile(list.node, 0.5), quantile(list.server, 0.5)] as const);
}

/** Gives the microseconds that the server's processes have been on a processor; NaN where that cannot be seen. */
async function serverTime(): Promise<() => number> {
  const client = await connection();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const parent = parentOf(String(rows[0]?.pid));
  await client.end();
  if (parent === undefined) return () => Number.NaN;
  return () => {
    const own = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === parent);
    return own.reduce((sum, pid) => sum + onProcessor(pid), 0);
  };
}

function parentOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1];
  } catch {
    return undefined;
  }
}

function onProcessor(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  } catch {
    return 0;
  }
}

/** Rows that are known here, and rows that are not, beside a pool of ten connections. */
export function reads(): Promise<readonly Measured[]> {
  return withStore(async (storage, schema) => {
    const ids = Array.from({ length: 20_000 }, newId);
    for (let from = 0; from < ids.length; from += 1000)
      (
        await storage.write((view) => {
          for (const id of ids.slice(from, from + 1000)) view.put(shared, { id, at: 0, text: 'x'.repeat(350) });
          return ok(undefined);
        })
      )._unsafeUnwrap();
    const forgetful = await storeIn(schema, { cacheSize: 1 });
    const { default: pg } = await import('pg');
    const pool = new pg.Pool({ connectionString: address(), max: 10 });
    const { rows } = await pool.query<{ name: string; key: string }>(
      `SELECT 'rows_' || id AS name, '' AS key FROM ${schema}.sb_tables WHERE name = 'bench_shared'`,
    );
    const from = `${schema}.sb_${rows[0]?.name}`;
    const keys = (await pool.query<{ key: string }>(`SELECT key FROM ${from}`)).rows.map(({ key }) => key);
    let next = 0;
    const read = (of: Storage, among: number) => async (): Promise<void> => {
      next += 1;
      const found = await of.read((view) => view.get(shared, [ids[next % among] as string])?.record.text.length);
      if (found._unsafeUnwrap() !== 350) throw new Error('the row is missing');
    };
    const byHand = (among: number) => async (): Promise<void> => {
      next += 1;
      const text = `SELECT created, modified, doc FROM ${from} WHERE key = $1`;
      const found = await pool.query<{ doc: string }>({ text, name: 'read', values: [keys[next % among]] });
      JSON.parse(found.rows[0]?.doc as string);
    };
    try {
      return [
        await compareRates(
          'pg.read64, cached',
          byCallers(callers, read(storage, 200)),
          byCallers(callers, byHand(200)),
          { min: 10 },
        ),
        await compareRates(
          'pg.read64, not cached',
          byCallers(callers, read(forgetful, ids.length)),
          byCallers(callers, byHand(ids.length)),
          { min: 2 },
        ),
      ];
    } finally {
      await pool.end();
      await forgetful.close();
    }
  });
}

/** Another process on a store. */
export class Other {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  static async on(schema: string, url = address(), ...more: readonly string[]): Promise<Other> {
    const file = fileURLToPath(new URL('./postgres-child.js', import.meta.url));
    const child = fork(file, [schema, url, ...more]);
    const other = new Other(child);
    await other.#next();
    return other;
  }

  #next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const gone = (): void => reject(new Error('the other process has ended'));
      this.#process.once('message', (message) => {
        this.#process.off('exit', gone);
        resolve(message);
      });
      this.#process.once('exit', gone);
    });
  }

  async write(milliseconds: number): Promise<number> {
    this.#process.send({ type: 'write', callers, milliseconds });
    return ((await this.#next()) as { done: number }).done;
  }

  wait(readers: number, onRead: (message: { tick: string; at: number }) => void = () => undefined): void {
    this.#process.on('message', onRead);
    this.#process.send({ type: 'wait', readers });
  }

  /** Runs functions; `began` is called with the number of each run. */
  async work(began: (n: number) => void): Promise<void> {
    this.#process.send({ type: 'work' });
    await this.#next();
    this.#process.on('message', (message) => began((message as { began: number }).began));
  }

  /** Microseconds. */
  onProcessor(): number {
    return onProcessor(String(this.#process.pid));
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  async end(): Promise<void> {
    this.#process.removeAllListeners();
    if (this.#process.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await gone;
  }
}

/** The server waits this much longer for its disk, by its own settings. */
const slower = (milliseconds: number): string => {
  const url = new URL(address());
  url.searchParams.set('options', `-c commit_delay=${1000 * milliseconds} -c commit_siblings=0`);
  return url.href;
};

/** Several processes to one, also with syncs that take three milliseconds longer. */
export async function processes(): Promise<readonly Measured[]> {
  const rows: Measured[] = [];
  for (const [name, url, counts, min] of [
    ['pg.write', address(), [2, 3, 4], 0.7],
    ['pg.write, syncs of 3 ms more', slower(3), [3], 1],
  ] as const) {
    const rates = await ratesOf(url, [1, ...counts]);
    for (const count of counts) {
      const [ours, floor] = [rates.get(count), rates.get(1)].map((list) => quantile(list ?? [], 0.5)) as [
        number,
        number,
      ];
      const limit = count === 3 ? { min } : {};
      rows.push({
        name: `${name}, ${count} processes to 1`,
        ours,
        floor,
        ratio: ours / floor,
        unit: 'per second',
        limit,
      });
    }
  }
  return [...rows, await stores()];
}

/** Three processes, each with its own store, to three on one. */
async function stores(): Promise<Measured> {
  const schemas = [newSchema(), newSchema(), newSchema()] as const;
  const apart = await Promise.all(schemas.map((schema) => Other.on(schema)));
  const together = await Promise.all(schemas.map(() => Other.on(schemas[0])));
  const written = (others: readonly Other[]) => async (milliseconds: number) => {
    const done = await Promise.all(others.map((other) => other.write(milliseconds)));
    return done.reduce((sum, each) => sum + each, 0);
  };
  const options = { slices: 5, milliseconds: 1000 };
  const measured = await compareRates('pg.write, 3 stores to 1', written(apart), written(together), {}, options);
  for (const other of [...apart, ...together]) await other.end();
  for (const schema of schemas) await drop(schema);
  return measured;
}

/** Writes a second of so many processes together, in three rounds. */
async function ratesOf(url: string, counts: readonly number[]): Promise<ReadonlyMap<number, number[]>> {
  const schema = newSchema();
  const others: Other[] = [];
  const rates = new Map<number, number[]>();
  const milliseconds = 1000;
  try {
    for (let n = 0; n < Math.max(...counts); n += 1) others.push(await Other.on(schema, url));
    for (let round = 0; round < 4; round += 1)
      for (const count of counts) {
        const done = await Promise.all(others.slice(0, count).map((other) => other.write(milliseconds)));
        const rate = done.reduce((sum, each) => sum + each, 0) / (milliseconds / 1000);
        // The first round only warms up.
        if (round > 0) rates.set(count, [...(rates.get(count) ?? []), rate]);
      }
  } finally {
    for (const other of others) await other.end();
    await drop(schema);
  }
  return rates;
}

/** From an acknowledged write until another process has read it. */
export async function wake(): Promise<readonly Measured[]> {
  const nowhere = 'postgres://127.0.0.1:1/none';
  return [
    ...(await woken('pg.wake', [], { p50: 3, p99: 30 })),
    ...(await woken('pg.wake, without notifications', [nowhere], { p50: 30, p99: 60 })),
  ];
}

async function woken(name: string, more: readonly string[], most: { p50: number; p99: number }): Promise<Measured[]> {
  return withStore(async (storage, schema) => {
    const other = await Other.on(schema, address(), ...more);
    const times: number[] = [];
    let arrived = (_at: number): void => undefined;
    let awaited = '';
    other.wait(1, ({ tick, at }) => {
      if (tick === awaited) arrived(at);
    });
    await pause(500);
    for (let n = 0; n < 150; n += 1) {
      awaited = `${n}`;
      const read = new Promise<number>((resolve) => {
        arrived = resolve;
      });
      await putShared(storage, 'tick', awaited);
      const acknowledged = performance.timeOrigin + performance.now();
      times.push((await read) - acknowledged);
      await pause(10 + (n % 13));
    }
    await other.end();
    return (['p50', 'p99'] as const).map((at) => {
      const value = quantile(times, at === 'p50' ? 0.5 : 0.99);
      return {
        name: `${name}, ${at}`,
        ours: value,
        floor: Number.NaN,
        ratio: value,
        unit: 'ms',
        limit: { max: most[at] },
      };
    });
  });
}

/** What a commit takes after 5,000 others, while somebody has kept a snapshot open. */
export function snapshot(): Promise<readonly Measured[]> {
  return withStore(async (storage) => {
    const times = async (count: number): Promise<number> => {
      const list: number[] = [];
      for (let n = 0; n < count; n += 1) {
        const began = performance.now();
        await putShared(storage, newId(), 'x'.repeat(300));
        list.push(performance.now() - began);
      }
      // What other programs of the machine add is in the upper half.
      return quantile(list, 0.25);
    };
    await times(500);
    const floor = await times(500);
    const client = await connection();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT 1');
    await times(5000);
    const ours = await times(500);
    await client.end();
    const name = 'pg.snapshot, after 5,000 commits';
    return [{ name, ours, floor, ratio: ours / floor, unit: 'ms', limit: { max: 1.2 } }];
  });
}

/** Sixteen foreign writers that notify, beside a store that writes 50 or 200 times a second, and without it. */
export function bystander(): Promise<readonly Measured[]> {
  return withStore(async (storage) => {
    const schema = newSchema();
    const clients = await Promise.all(Array.from({ length: 16 }, () => connection()));
    await clients[0]?.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.foreign_rows (id bigserial, text text)`);
    const foreign = async (milliseconds: number): Promise<number> => {
      const end = performance.now() + milliseconds;
      let done = 0;
      await Promise.all(
        clients.map(async (client) => {
          while (performance.now() < end) {
            await client.query(`INSERT INTO ${schema}.foreign_rows (text) VALUES ('row'); NOTIFY foreign_channel`);
            done += 1;
          }
        }),
      );
      return done;
    };
    const beside =
      (every: number) =>
      async (milliseconds: number): Promise<number> => {
        const timer = setInterval(() => void putShared(storage, newId(), 'x'), every);
        const done = await foreign(milliseconds);
        clearInterval(timer);
        return done;
      };
    // Both sides share two cores, of which two hundred writes a second take a sixth.
    const measured = [
      await compareRates('pg.bystander', beside(5), foreign, { min: 0.9 }, { milliseconds: 400 }),
      await compareRates('pg.bystander, 50 writes/s', beside(20), foreign, { min: 0.9 }, { milliseconds: 400 }),
    ];
    for (const client of clients) await client.end();
    await drop(schema);
    return measured;
  });
}

/** A write over a million rows in all, to one over ten thousand. */
export async function size(): Promise<readonly Measured[]> {
  return withStore((small) =>
    withStore(async (big, schema) => {
      for (const storage of [small, big])
        for (let n = 0; n < 2500; n += 250) await Promise.all(Array.from({ length: 250 }, () => register(storage)));
      await grow(schema, 1_000_000);
      const over = (storage: Storage) => byCallers(callers, () => register(storage, true));
      const { ours, floor, ratio } = await compareRates('', over(small), over(big), {});
      return [
        {
          name: 'pg.size, 1,000,000 rows to 10,000',
          ...{ ours: 1e6 / floor, floor: 1e6 / ours, ratio, unit: 'µs', limit: { max: 1.3 } },
        },
      ];
    }),
  );
}

/** Copies rows under other keys, in the database. */
async function grow(schema: string, count: number): Promise<void> {
  const client = await connection();
  const { rows: tables } = await client.query<{ id: number }>(
    `SELECT id FROM ${schema}.sb_tables WHERE name LIKE 'bench_%' ORDER BY id`,
  );
  for (const { id } of tables) {
    const { rows } = await client.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 AND column_name LIKE 'i%'`,
      [schema, `sb_rows_${id}`],
    );
    const columns = rows.map(({ name }) => `, ${name}`).join('');
    const copied = rows.map(({ name }) => `, '~' || n || ${name}`).join('');
    await client.query(
      `INSERT INTO ${schema}.sb_rows_${id} (key, created, modified, doc${columns}) SELECT '~' || n || key, created, modified, left(doc, 100)${copied} FROM ${schema}.sb_rows_${id}, generate_series(1, ${count / 10_000}) n`,
    );
  }
  await client.query('ANALYZE');
  await client.end();
}

/** The longest time without an acknowledgement while another writer is stopped or killed. */
export function stall(): Promise<readonly Measured[]> {
  return withStore(async (storage, schema) => {
    let longest = 0;
    let last = performance.now();
    let isOver = false;
    const writer = async (): Promise<void> => {
      while (!isOver) {
        await register(storage);
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }
    };
    const writers = [writer(), writer(), writer(), writer()];
    const gaps: number[] = [];
    for (const name of ['SIGSTOP', 'SIGKILL', 'SIGSTOP', 'SIGKILL'] as const) {
      const other = await Other.on(schema);
      other.write(60_000).catch(() => undefined);
      await pause(700);
      longest = 0;
      other.signal(name);
      await pause(2500);
      gaps.push(longest);
      await other.end();
    }
    isOver = true;
    await Promise.all(writers);
    const value = Math.max(...gaps);
    return [{ name: 'pg.stall', ours: value, floor: Number.NaN, ratio: value, unit: 'ms', limit: { max: 1000 } }];
  });
}

/** Writes of one process while twenty others have two hundred waiting readers each. */
export function fleet(): Promise<readonly Measured[]> {
  return withStore(async (storage, schema) => {
    const others = await Promise.all(Array.from({ length: 20 }, () => Other.on(schema)));
    for (const other of others) other.wait(200);
    await pause(3000);
    const times: number[] = [];
    const before = others.map((other) => other.onProcessor());
    // Each write wakes four thousand readers, who need longer than fifty milliseconds of two cores.
    for (let n = 0; n < 100; n += 1) {
      const began = performance.now();
      await putShared(storage, 'tick', `${n}`);
      times.push(performance.now() - began);
      await pause(200);
    }
    const spent = others.map((other, at) => (other.onProcessor() - (before[at] ?? 0)) / times.length);
    for (const other of others) await other.end();
    const row = (name: string, value: number, limit: Measured['limit'], unit = 'ms'): Measured => {
      return { name: `pg.fleet, 20 × 200 readers, ${name}`, ours: value, floor: Number.NaN, ratio: value, unit, limit };
    };
    return [
      row('p50', quantile(times, 0.5), {}),
      row('p99', quantile(times, 0.99), { max: 100 }),
      row('each', quantile(spent, 0.5), {}, 'µs of Node'),
    ];
  });
}
