import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { askMany, type Connection, connectionTo } from './http-load.js';
import type { Measured } from './store-slices.js';
import { jobDocument } from './validate-job.js';

/*
 * Our servers against bare node:http doing the same work without our code, all alive in one run and asked in turns. What
 * counts is the processor time of each server's main thread for one request; for durable registrations the rate.
 */

export const readers = 32;
const writers = 64;
const parkedReaders = 10_000;
const rounds = 7;

/** `http.get`, `http.register.mem`, `http.register.sqlite` and `wake.10k`; about 40 s. */
export async function run(): Promise<readonly Measured[]> {
  const floor = await startServer('floor');
  const memory = await startServer('memory');
  const sqlite = await startServer('sqlite');
  try {
    return [
      ...(await readRows(floor, memory)),
      await registerRow(floor, memory),
      await durableRow(floor, sqlite),
      ...(await wakeRows(floor, memory)),
    ];
  } finally {
    for (const server of [floor, memory, sqlite]) server.child.disconnect();
  }
}

async function readRows(floor: ServerProcess, ours: ServerProcess): Promise<readonly Measured[]> {
  const atFloor = await connections(floor, readers);
  const atOurs = await connections(ours, readers);
  await askMany(atOurs.slice(0, 1), 1, () => put('/v1/jobs', smallRegistration()));
  const body = (await (atOurs[0] as Connection).ask(get('/v1/job/small'))).body;
  await askMany(atFloor.slice(0, 1), 1, () => request('POST', '/body', body));
  const token = 'X-SVC-Token: a-secret-of-the-bench\r\n';
  const costs = await alternate({
    floor: () => cost(floor, () => askMany(atFloor, 3000, () => get('/any')), 3000),
    open: () => cost(ours, () => askMany(atOurs, 3000, () => get('/v1/job/small')), 3000),
    token: () => cost(ours, () => askMany(atOurs, 3000, () => get('/v1/job/small', token)), 3000),
  });
  closeAll(atFloor, atOurs);
  return [
    ratioRow('http.get', 'µs of processor', costs.open, costs.floor, { max: 1.8 }),
    ratioRow('http.get with a token', 'µs of processor', costs.token, costs.floor, {}),
  ];
}

async function registerRow(floor: ServerProcess, ours: ServerProcess): Promise<Measured> {
  const atFloor = await connections(floor, readers);
  const atOurs = await connections(ours, readers);
  let n = 0;
  const next = (path: string) => () => {
    n += 1;
    return put(path, registration(n));
  };
  const costs = await alternate({
    floor: () => cost(floor, () => askMany(atFloor, 600, next('/parse')), 600),
    ours: () => cost(ours, () => askMany(atOurs, 600, next('/v1/jobs')), 600),
  });
  closeAll(atFloor, atOurs);
  return ratioRow('http.register.mem', 'µs of processor', costs.ours, costs.floor, { max: 2.2 });
}

async function durableRow(floor: ServerProcess, ours: ServerProcess): Promise<Measured> {
  const atFloor = await connections(floor, writers);
  const atOurs = await connections(ours, writers);
  let n = 0;
  const rate = async (to: readonly Connection[], path: string): Promise<number> => {
    const started = performance.now();
    await askMany(to, 600, () => {
      n += 1;
      return put(path, registration(n));
    });
    return 600_000 / (performance.now() - started);
  };
  const rates = await alternate({
    floor: () => rate(atFloor, '/store'),
    ours: () => rate(atOurs, '/v1/jobs'),
  });
  closeAll(atFloor, atOurs);
  return ratioRow('http.register.sqlite', 'per second', rates.ours, rates.floor, { min: 0.75 });
}

/** Both sides take turns with connections of their own: a process may not hold those of both at once. */
async function wakeRows(floor: ServerProcess, ours: ServerProcess): Promise<readonly Measured[]> {
  const costs: { floor: number[]; ours: number[]; stall: number[] } = { floor: [], ours: [], stall: [] };
  for (let turn = 0; turn < 2; turn += 1) {
    costs.floor.push(...(await wakeFloor(floor)));
    const woken = await wakeOurs(ours);
    costs.ours.push(...woken.costs);
    costs.stall.push(...woken.stalls);
  }
  const one = costs.stall.map(() => 1);
  return [
    ratioRow('wake.10k', 'µs of processor each', costs.ours, costs.floor, { max: 1.5 }),
    ratioRow('wake.10k, longest stall', 'ms', costs.stall, one, { max: 10 }),
  ];
}

/** The first wake of a turn warms up. */
const wakes = 3;

async function wakeFloor(floor: ServerProcess): Promise<readonly number[]> {
  const readersAtFloor = await connections(floor, parkedReaders);
  const [waker] = (await connections(floor, 1)) as [Connection];
  const costs: number[] = [];
  for (let round = 0; round < wakes; round += 1) {
    const answered = Promise.all(readersAtFloor.map((connection) => connection.ask(get('/wait'))));
    await parkedAt(floor, parkedReaders);
    const wake = async (): Promise<void> => {
      await waker.ask(put('/wake', '{}'));
      await answered;
    };
    costs.push(await cost(floor, wake, parkedReaders));
  }
  closeAll(readersAtFloor, [waker]);
  return costs.slice(1);
}

let version = 0;

async function wakeOurs(
  ours: ServerProcess,
): Promise<{ readonly costs: readonly number[]; readonly stalls: readonly number[] }> {
  const readersAtOurs = await connections(ours, parkedReaders);
  const [writer] = (await connections(ours, 1)) as [Connection];
  const costs: number[] = [];
  const stalls: number[] = [];
  for (let round = 0; round < wakes; round += 1) {
    const index = /x-svc-index: ([0-9]+)/i.exec((await writer.ask(get('/v1/job/small'))).headers)?.[1] ?? '0';
    const waiting = get(`/v1/job/small?index=${index}&wait=60s`);
    const answered = Promise.all(readersAtOurs.map((connection) => connection.ask(waiting)));
    await parkedAt(ours, parkedReaders);
    await question<{ stall: number }>(ours, 'stall');
    const wake = async (): Promise<void> => {
      version += 1;
      await writer.ask(put('/v1/jobs', smallRegistration(version)));
      await answered;
    };
    costs.push(await cost(ours, wake, parkedReaders));
    stalls.push((await question<{ stall: number }>(ours, 'stall')).stall);
  }
  closeAll(readersAtOurs, [writer]);
  return { costs: costs.slice(1), stalls: stalls.slice(1) };
}

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly port: number;
}

export async function startServer(kind: 'floor' | 'memory' | 'sqlite'): Promise<ServerProcess> {
  const file = fileURLToPath(new URL('./http-child.js', import.meta.url));
  const child = spawn(process.execPath, [file, kind], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { port } = await new Promise<{ port: number }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { port: number }));
    child.once('exit', (code) => reject(new Error(`the ${kind} server ended with ${String(code)}`)));
  });
  return { child, port };
}

function question<T>(server: ServerProcess, text: string): Promise<T> {
  return new Promise((resolve) => {
    server.child.once('message', (message) => resolve(message as T));
    server.child.send(text);
  });
}

async function parkedAt(server: ServerProcess, count: number): Promise<void> {
  while ((await question<{ parked: number }>(server, 'parked')).parked < count) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Microseconds of the server's main thread for one of `count` operations. */
export async function cost(server: ServerProcess, work: () => Promise<unknown>, count: number): Promise<number> {
  const before = processorTime(server);
  await work();
  return (processorTime(server) - before) / 1000 / count;
}

/** Nanoseconds that the main thread has been on a processor. */
function processorTime({ child }: ServerProcess): number {
  const id = String(child.pid);
  return Number(readFileSync(`/proc/${id}/task/${id}/schedstat`, 'utf8').split(' ')[0]);
}

/** Each side once in every round, in turned order; the first rounds only warm up. */
export async function alternate<K extends string>(
  sides: Readonly<Record<K, () => Promise<number>>>,
  { warmingUp = 1, counted = rounds } = {},
): Promise<Readonly<Record<K, readonly number[]>>> {
  const names = Object.keys(sides) as K[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let round = 0; round < warmingUp + counted; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(turn + round) % names.length] as K;
      const value = await sides[name]();
      if (round >= warmingUp) measured[name].push(value);
    }
  }
  return measured;
}

export function ratioRow(
  name: string,
  unit: string,
  ours: readonly number[],
  floor: readonly number[],
  limit: Measured['limit'],
): Measured {
  const ratios = ours.map((value, i) => value / (floor[i] as number));
  return { name, ours: median(ours), floor: median(floor), ratio: median(ratios), unit, limit };
}

/**
 * Of the round of each side that a quarter of its rounds are below: other work on the machine adds to most of them, and in a few the
 * requests happen to come together.
 */
export function quietRow(
  name: string,
  unit: string,
  ours: readonly number[],
  floor: readonly number[],
  limit: Measured['limit'],
): Measured {
  const quiet = { ours: ranked(ours, 0.25), floor: ranked(floor, 0.25) };
  return { name, ...quiet, ratio: quiet.ours / quiet.floor, unit, limit };
}

function median(values: readonly number[]): number {
  return ranked(values, 0.5);
}

/** The value that this share of the values is below. */
function ranked(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

export async function connections(server: ServerProcess, count: number): Promise<readonly Connection[]> {
  const opened: Connection[] = [];
  while (opened.length < count) {
    const batch = Math.min(200, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: batch }, () => connectionTo(server.port)))));
  }
  return opened;
}

export function closeAll(...lists: readonly (readonly Connection[])[]): void {
  for (const connection of lists.flat()) connection.close();
}

function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
}

export function put(path: string, body: string): string {
  return request('PUT', path, body);
}

function request(method: string, path: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

/** A job of about 3.6 KB that nobody has registered yet. */
function registration(n: number): string {
  return JSON.stringify({ Job: { ...jobDocument(n), ID: `job-${n}`, Name: `job-${n}` } });
}

/** A small job that everybody reads. */
function smallRegistration(version = 0): string {
  const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } };
  const Job = {
    ID: 'small',
    Type: 'batch',
    Datacenters: ['*'],
    Meta: { version: String(version) },
    TaskGroups: [{ Name: 'g', Tasks: [task] }],
  };
  return JSON.stringify({ Job });
}
