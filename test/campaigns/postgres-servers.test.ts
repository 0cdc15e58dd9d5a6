import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResultAsync } from 'neverthrow';
import { afterEach, expect, test } from 'vitest';
import type { Client } from '../../src/client/index.js';
import type { JobInput } from '../../src/jobs/document/job-input.js';
import { messageIdentity } from '../../src/receiver.js';
import { endAll } from '../adapters/cli/cli-process.js';
import { type PostgresServer, postgresServer } from '../adapters/postgres/postgres-server.js';
import { commandLineProgram, laterCommandLine } from '../support/command-line.js';
import { eventually, type Installation, installation, pause, type Served } from '../support/installation.js';
import { patience } from '../support/patience.js';
import { type RoughProxy, roughProxy } from '../support/rough-proxy.js';

/*
 * Three servers on one database, and two agents that reach one of them each through a balancer, while runs are dispatched, a periodic job is
 * launched every other second, jobs are registered, and a receiver is notified. Servers are killed, stopped for seconds and ended. The others take
 * over: what is acknowledged is kept, each run and each launch runs once, the receiver hears of each step in order, and every node
 * can be reached through every server. In a second run two versions of the package, which differ in each of their indexes, replace each
 * other. `SIGNALBOX_SERVER_FAULTS=200` for longer runs.
 */
const asked = process.env['SIGNALBOX_SERVER_FAULTS'];
const faults = Number(asked ?? 2);
const processes = 3;
/** Milliseconds within which others have taken over what a server did that is gone. */
const takeover = 10_000;
/** For how long a server is stopped, in milliseconds. */
const stopped = 10_000;
/** How many servers are replaced by one of another version. */
const replaced = Number(asked ?? processes);

/** How many notifications a server sends to one destination at once. */
const mostAtOnce = 32;

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.remove();
  endAll();
});

const timeout = 180_000 + faults * 40_000;

test(`${faults} servers of three are killed, stopped and ended`, { timeout }, async () => {
  fleet = await Fleet.open(['kill', 'stop', 'kill', 'end']);
  for (let fault = 0; fault < faults; fault += 1) await fleet.suffer(fault);
  const wrong = await fleet.wrongs();
  console.info(fleet.figures());
  expect(wrong).toEqual([]);
});

test(`${replaced} servers of three are replaced by one of another version`, { timeout }, async () => {
  fleet = await Fleet.open(['end'], laterCommandLine);
  for (let fault = 0; fault < replaced; fault += 1) await fleet.suffer(fault);
  const wrong = await fleet.wrongs();
  console.info(fleet.figures());
  expect(wrong).toEqual([]);
});

type Fault = 'kill' | 'stop' | 'end';

class Fleet {
  readonly #installed: Installation;
  readonly #database: PostgresServer;
  readonly #servers: Served[] = [];
  /** Servers that answer. */
  readonly #live = new Set<Served>();
  readonly #proxies: RoughProxy[] = [];
  readonly #launches: string;
  #acknowledged = 0;
  #dispatched = 0;
  readonly #jobs = new Map<number, string>();
  readonly #registered = new Map<string, number>();
  /** Milliseconds until a run through another server had ended, and until all that was accepted before was sent. */
  readonly #ran: number[] = [];
  readonly #sent: number[] = [];
  /** Milliseconds until all nodes were reached through all servers again. */
  readonly #reached: number[] = [];
  readonly #wrong: string[] = [];
  readonly #seen = { requests: 0, ids: new Set<string>(), repeated: 0, heard: new Map<string, string[]>() };
  #unreached = '';
  #busy = true;
  #callers: Promise<void>[] = [];

  readonly #faults: readonly Fault[];
  /** The programs of servers that begin, in turn. */
  readonly #programs: string[] = [];
  #started = 0;

  private constructor(installed: Installation, database: PostgresServer, kinds: readonly Fault[]) {
    this.#faults = kinds;
    this.#installed = installed;
    this.#database = database;
    this.#launches = join(installed.folder, 'launches');
    writeFileSync(this.#launches, '');
  }

  static async open(kinds: readonly Fault[], other?: (folder: string) => Promise<string>): Promise<Fleet> {
    const opened = new Fleet(await installation(), await postgresServer(['-c max_connections=60']), kinds);
    opened.#programs.push(commandLineProgram());
    // Each server is replaced by one of the other version, because their number is odd.
    if (other !== undefined) opened.#programs.push(await other(join(opened.#installed.folder, 'other')));
    await opened.#begin();
    return opened;
  }

  async #begin(): Promise<void> {
    for (let at = 0; at < processes; at += 1) this.#servers.push(await this.#serve());
    const { box } = this.#server(0);
    await this.#installed.prepare(box);
    expectOk(await box.jobs.register(periodic(this.#launches)));
    for (const [at, name] of ['one', 'two'].entries()) {
      const proxy = await roughProxy();
      this.#proxies.push(proxy);
      await this.#connect(proxy, at);
      mkdirSync(join(this.#installed.folder, name));
      const where = ['--server', `http://127.0.0.1:${proxy.port}`, '--directory', join(this.#installed.folder, name)];
      this.#installed.run(['agent', ...where, '--name', name, '--cpu', '4000', '--memory', '4000']);
    }
    expectOk(await box.jobs.register(onEveryNode()));
    if (!(await eventually(patience, () => this.#isReachable()))) throw new Error('the nodes are not reached');
    this.#callers = [this.#dispatch(), this.#register('a')];
  }

  /** One server is gone, for a time or for good; another one takes its place. */
  async suffer(fault: number): Promise<void> {
    const at = fault % processes;
    const kind = this.#faults[fault % this.#faults.length] as Fault;
    const server = this.#server(at);
    await pause(300 + ((fault * 137) % 400));
    const accepted = [...this.#jobs.values()];
    this.#live.delete(server);
    const since = performance.now();
    server.child.process.kill(({ kill: 'SIGKILL', stop: 'SIGSTOP', end: 'SIGTERM' } as const)[kind]);
    // As a balancer does.
    for (const [each, proxy] of this.#proxies.entries())
      if (proxy.target === portOf(await server.child.origin())) await this.#connect(proxy, at + 1 + each);
    await this.#takesOver(kind, since, accepted);
    if (kind === 'stop') {
      await pause(Math.max(0, stopped - (performance.now() - since)));
      server.child.process.kill('SIGCONT');
      this.#live.add(server);
    } else {
      await server.child.ended;
      this.#noteErrors(server);
      this.#servers[at] = await this.#serve();
    }
    const back = performance.now();
    if (await eventually(patience, () => this.#isReachable())) this.#reached.push(performance.now() - back);
    else this.#wrong.push(`${kind}: a node is not reached: ${this.#unreached}`);
  }

  async #takesOver(kind: string, since: number, accepted: readonly string[]): Promise<void> {
    const number = this.#dispatched++;
    await this.#run(number);
    const isSent = (): boolean => accepted.every((id) => this.#heard().get(id)?.includes('run:completed'));
    const hasRun = async (): Promise<boolean> => this.#marksOf(number) === 'begin,end';
    const [ran, sent] = await Promise.all([
      eventually(takeover, hasRun).then((done) => (done ? this.#ran.push(performance.now() - since) : 0)),
      eventually(takeover, isSent).then((done) => (done ? this.#sent.push(performance.now() - since) : 0)),
    ]);
    if (ran === 0) this.#wrong.push(`${kind}: a run has not ended within ${takeover} ms`);
    if (sent === 0) this.#wrong.push(`${kind}: notifications were not sent within ${takeover} ms`);
  }

  /** What is not as it should be, when all servers are there. */
  async wrongs(): Promise<string[]> {
    this.#busy = false;
    await Promise.all(this.#callers);
    const { box } = this.#server(0);
    expectOk(await box.jobs.stop('ticks'));
    const over = async (): Promise<boolean> => {
      const { Children } = (await box.jobs.summary('work'))._unsafeUnwrap().value ?? {};
      return Children?.Pending === 0 && Children.Running === 0;
    };
    const wrong = this.#wrong;
    if (!(await eventually(patience, over))) wrong.push('runs are left that never end');
    const isTold = (): boolean =>
      [...this.#jobs.values()].every((id) => this.#heard().get(id)?.length === steps.length);
    await eventually(patience, isTold);
    for (const [number, id] of this.#jobs) {
      if (this.#marksOf(number) !== 'begin,end') wrong.push(`run ${number}: ${this.#marksOf(number)}`);
      const heard = this.#heard().get(id)?.join();
      if (heard !== steps.join()) wrong.push(`${id} was reported as ${heard}`);
    }
    for (const run of this.#installed.marks().keys())
      if (!this.#jobs.has(Number(run))) wrong.push(`run ${run} is not known`);
    const listed = (await box.jobs.list({ meta: true }))._unsafeUnwrap().value.items;
    for (const [name, number] of this.#registered) {
      const job = listed.find(({ ID }) => ID === name);
      if (!(Number(job?.Meta?.['n']) >= number)) wrong.push(`${name} has lost registration ${number}`);
    }
    const launches = this.#launched();
    for (const [at, launch] of launches.entries())
      if (launches.indexOf(launch) !== at) wrong.push(`${launch} ran twice`);
    // What was under way when a server was killed or stopped, and no more.
    if (this.#seen.repeated > faults * mostAtOnce) wrong.push(`${this.#seen.repeated} notifications were repeated`);
    for (const server of this.#servers) this.#noteErrors(server);
    return wrong;
  }

  figures(): string {
    const longest = (times: readonly number[]): string => `${(Math.max(0, ...times) / 1000).toFixed(1)} s`;
    return (
      `${this.#ran.length} faults, ${this.#acknowledged} acknowledgements, ${this.#jobs.size} runs, ${this.#launched().length} launches, ` +
      `${this.#seen.ids.size} notifications, ${this.#seen.repeated} repeated; longest until a run of another server had ended: ` +
      `${longest(this.#ran)}, until all that was accepted before was sent: ${longest(this.#sent)}, until a server that has ` +
      `begun reached all nodes: ${longest(this.#reached)}`
    );
  }

  async remove(): Promise<void> {
    this.#busy = false;
    for (const { child } of this.#servers) child.process.kill('SIGKILL');
    await Promise.all(this.#callers.map((caller) => caller.catch(() => undefined)));
    for (const proxy of this.#proxies) await proxy.close();
    await this.#installed.remove();
    this.#database.remove();
  }

  async #serve(): Promise<Served> {
    // A server that was stopped for longer than its requests wait refuses those that it finds when it goes on, and logs it.
    const options = ['--store', this.#database.url, '--no-runner', '--set', `storeTimeout=${3 * stopped}ms`];
    const program = this.#programs[this.#started++ % this.#programs.length];
    const server = await this.#installed.serve(options, {}, program);
    this.#live.add(server);
    return server;
  }

  #server(at: number): Served {
    return this.#servers[at % processes] as Served;
  }

  /** Connects the agent behind the proxy to a server that is there. */
  async #connect(proxy: RoughProxy, from: number): Promise<void> {
    for (let at = from; ; at += 1) {
      const server = this.#server(at);
      if (!this.#live.has(server)) continue;
      proxy.target = portOf(await server.child.origin());
      proxy.cut();
      return;
    }
  }

  /** Asks until it is acknowledged, one server after the other. */
  async #insist<T>(ask: (box: Client) => ResultAsync<T, unknown>): Promise<T> {
    for (let at = this.#acknowledged; ; at += 1) {
      const live = [...this.#live];
      const answered = await ask((live[at % live.length] as Served).box);
      if (answered.isOk()) {
        this.#acknowledged += 1;
        return answered.value;
      }
      if (!this.#busy && this.#live.size === 0) throw new Error('there are no servers');
      await pause(5);
    }
  }

  async #run(number: number): Promise<void> {
    const options = { meta: { n: String(number) }, idempotencyToken: `n-${number}` };
    const { dispatchedJobId } = await this.#insist((box) => box.jobs.dispatch('work', options));
    this.#jobs.set(number, dispatchedJobId);
  }

  async #dispatch(): Promise<void> {
    while (this.#busy) {
      await this.#run(this.#dispatched++);
      await pause(400);
    }
  }

  async #register(name: string): Promise<void> {
    for (let number = 0; this.#busy; number += 1) {
      await this.#insist((box) => box.jobs.register(placeless(name, number)));
      this.#registered.set(name, number);
      await pause(200);
    }
  }

  /** Whether each server can run a command in each allocation of the job on every node. */
  async #isReachable(): Promise<boolean> {
    const listed = await this.#server(0).box.jobs.allocations('everywhere');
    const allocations = listed.isOk() ? listed.value.value : [];
    const asked = [...this.#live].flatMap(({ box }) =>
      allocations.flatMap(({ ID }) => [
        box.allocations.stats(ID).map(() => true),
        box.files.list(ID, { path: 'alloc/logs' }).map((files) => files.length > 0),
      ]),
    );
    const answers = await Promise.all(asked);
    this.#unreached = JSON.stringify(answers.filter((answer) => !answer.isOk() || !answer.value));
    return allocations.length === 2 && this.#unreached === '[]';
  }

  #marksOf(number: number): string {
    return this.#installed.marks().get(String(number))?.join() ?? 'nothing';
  }

  #launched(): readonly string[] {
    return readFileSync(this.#launches, 'utf8').split('\n').slice(0, -1);
  }

  /** The steps that the receiver was notified of for the first time, by job, in order. */
  #heard(): ReadonlyMap<string, readonly string[]> {
    const { requests } = this.#installed.receiver;
    for (const { body, headers } of requests.slice(this.#seen.requests)) {
      const { run_id: run, run_message: message, notifications } = JSON.parse(body);
      if (run === null) continue;
      const { id } = messageIdentity(headers)._unsafeUnwrap();
      if (this.#seen.ids.has(id)) this.#seen.repeated += 1;
      else {
        const job = message.replace('Job ', '');
        this.#seen.heard.set(job, [...(this.#seen.heard.get(job) ?? []), notifications[0].trigger]);
      }
      this.#seen.ids.add(id);
    }
    this.#seen.requests = requests.length;
    return this.#seen.heard;
  }

  /** Nothing of this is an error of a server. */
  #noteErrors({ child }: Served): void {
    for (const line of child.error().split('\n')) if (line.includes('"level":"error"')) this.#wrong.push(line);
  }
}

const steps = ['run:created', 'run:planning', 'run:applying', 'run:completed'];

const portOf = (origin: string): number => Number(new URL(origin).port);

function expectOk(answer: { isErr(): boolean; error?: unknown }): void {
  if (answer.isErr()) throw new Error(JSON.stringify(answer));
}

const resources = { CPU: 1, MemoryMB: 10 };

/** Waits for a node that there is not. */
function placeless(id: string, number: number): JobInput {
  const group = { Name: 'app', Tasks: [{ Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/true' } }] };
  return { ID: id, Type: 'batch', Datacenters: ['nowhere'], Meta: { n: String(number) }, TaskGroups: [group] };
}

function onEveryNode(): JobInput {
  const main = {
    Name: 'main',
    Driver: 'raw_exec',
    Config: { command: '/bin/sleep', args: ['3600'] },
    Resources: resources,
  };
  return {
    ID: 'everywhere',
    Type: 'system',
    Datacenters: ['*'],
    TaskGroups: [{ Name: 'app', Tasks: [main] }],
  };
}

function periodic(file: string): JobInput {
  const script = `echo "$NOMAD_JOB_ID" >> ${file}`;
  const main = {
    Name: 'main',
    Driver: 'raw_exec',
    Config: { command: '/bin/sh', args: ['-c', script] },
    Resources: resources,
  };
  const group = {
    Name: 'app',
    RestartPolicy: { Attempts: 0, Mode: 'fail' as const },
    ReschedulePolicy: { Attempts: 0, Unlimited: false },
    Tasks: [main],
  };
  const every = { Enabled: true, Spec: '*/2 * * * * * *', SpecType: 'cron' as const, TimeZone: 'UTC' };
  return { ID: 'ticks', Type: 'batch', Datacenters: ['*'], Periodic: every, TaskGroups: [group] };
}
