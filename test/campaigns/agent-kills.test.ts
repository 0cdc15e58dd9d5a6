import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/index.js';
import { type Child, endAll } from '../adapters/cli/cli-process.js';
import { eventually, type Installation, installation, pause } from '../support/installation.js';
import { type RoughProxy, roughProxy } from '../support/rough-proxy.js';

/*
 * A server without a runner, and two agents in processes of their own that reach it over a bad network, while runs are
 * dispatched. Server and agents are killed, connections are cut, slow, or silent. Each run must begin and end once, and the
 * server must know so. `SIGNALBOX_AGENT_FAULTS=200` for a longer run; without it a busy machine gets through fewer.
 */
const asked = process.env['SIGNALBOX_AGENT_FAULTS'];
const faults = Number(asked ?? 10);
/** Milliseconds, when nothing is asked for. */
const budget = 15_000;

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.remove();
  endAll();
});

test(`runs on other hosts begin and end once, ${faults} faults`, { timeout: 120_000 + faults * 30_000 }, async () => {
  const begun = performance.now();
  fleet = await Fleet.open();
  for (let fault = 0; fault < faults; fault += 1) {
    if (asked === undefined && fault >= 5 && performance.now() - begun > budget) break;
    await fleet.suffer(fault);
    if (asked !== undefined) console.info(fault, Math.round(performance.now() - begun), fleet.figures());
  }
  const wrong = await fleet.wrongs();
  if (asked !== undefined) console.info(fleet.figures());
  expect(wrong).toEqual([]);
});

class Fleet {
  readonly #installed: Installation;
  readonly #proxy: RoughProxy;
  readonly #agents = new Map<string, Child>();
  #server: Child;
  #secret: string;
  #box: Client;
  #dispatched = 0;
  #busy = true;
  #dispatching: Promise<void> = Promise.resolve();

  private constructor(installed: Installation, proxy: RoughProxy, server: Child) {
    this.#installed = installed;
    this.#proxy = proxy;
    this.#server = server;
    this.#secret = '';
    this.#box = connect({ url: 'http://127.0.0.1:1' });
  }

  static async open(): Promise<Fleet> {
    const installed = await installation();
    const opened = new Fleet(installed, await roughProxy(), serverOf(installed));
    await opened.#meet();
    await installed.prepare(opened.#box);
    for (const name of ['one', 'two']) {
      const token = (await opened.#box.tokens.create({ name, type: 'node' }))._unsafeUnwrap().value;
      mkdirSync(join(installed.folder, name));
      writeFileSync(join(installed.folder, `${name}.token`), token.SecretID);
      opened.#startAgent(name);
    }
    opened.#dispatching = opened.#dispatch();
    return opened;
  }

  /** Something goes wrong, some runs later it is mended. */
  async suffer(fault: number): Promise<void> {
    await this.#progress(2 + (fault % 5));
    await pause((fault * 7) % 50);
    const kind = ['server', 'one', 'cut', 'two', 'silent', 'slow', 'both'][fault % 7] as string;
    if (kind === 'server' || kind === 'both') await this.#killServer();
    if (kind === 'one' || kind === 'two') await this.#killAgent(kind);
    if (kind === 'both') await this.#killAgent('one');
    if (kind === 'cut') this.#proxy.cut();
    if (kind === 'silent' || kind === 'slow') {
      this.#proxy.manner = kind;
      await pause(1500);
      this.#proxy.manner = 'good';
      // What a silent network has swallowed never comes.
      if (kind === 'silent') this.#proxy.cut();
    }
  }

  /** What is not as it should be, once everything is mended. */
  async wrongs(): Promise<string[]> {
    this.#busy = false;
    await this.#dispatching;
    const over = async (): Promise<boolean> => {
      const summary = await this.#box.jobs.summary('work');
      const children = summary.isOk() ? summary.value.value?.Children : undefined;
      return children?.Pending === 0 && children.Running === 0 && children.Dead === this.#dispatched;
    };
    const wrong = (await eventually(60_000, over)) ? [] : ['runs are left that never end'];
    const marks = this.#installed.marks();
    for (let run = 0; run < this.#dispatched; run += 1) {
      const found = marks.get(String(run))?.join() ?? 'nothing';
      if (found !== 'begin,end') wrong.push(`run ${run}: ${found}`);
    }
    return wrong;
  }

  figures(): string {
    return `${this.#dispatched} runs, ${this.#installed.marks().size} begun`;
  }

  async remove(): Promise<void> {
    this.#busy = false;
    await this.#dispatching;
    await this.#proxy.close();
    await this.#installed.remove();
  }

  /** Dispatches runs one by one, each until it is acknowledged, and not far ahead of what has run. */
  async #dispatch(): Promise<void> {
    // One without an answer may have been accepted: it is asked for until it is known.
    let isOpen = false;
    while (this.#busy || isOpen) {
      const n = String(this.#dispatched);
      const asking = await this.#box.jobs.dispatch('work', { meta: { n }, idempotencyToken: `n-${n}` });
      isOpen = asking.isErr();
      if (!isOpen) this.#dispatched += 1;
      await pause(this.#dispatched - this.#installed.marks().size > 20 ? 200 : 20);
    }
  }

  async #progress(runs: number): Promise<void> {
    const before = this.#installed.marks().size;
    await eventually(20_000, () => this.#installed.marks().size >= before + runs);
  }

  async #killServer(): Promise<void> {
    this.#server.process.kill('SIGKILL');
    await this.#server.ended;
    this.#server = serverOf(this.#installed);
    await this.#meet();
  }

  async #meet(): Promise<void> {
    const origin = await this.#server.origin();
    if (this.#secret === '') {
      const line = /management token, shown this once: (\S+)/;
      await eventually(5000, () => line.test(this.#server.out()));
      this.#secret = line.exec(this.#server.out())?.[1] ?? '';
    }
    this.#proxy.target = Number(new URL(origin).port);
    this.#box = connect({ url: origin, token: this.#secret });
  }

  async #killAgent(name: string): Promise<void> {
    const agent = this.#agents.get(name);
    agent?.process.kill('SIGKILL');
    await agent?.ended;
    this.#startAgent(name);
  }

  #startAgent(name: string): void {
    const { folder } = this.#installed;
    const where = ['--server', `http://127.0.0.1:${this.#proxy.port}`, '--token-file', join(folder, `${name}.token`)];
    const room = ['--cpu', '20', '--memory', '1000', '--directory', join(folder, name), '--name', name];
    this.#agents.set(name, this.#installed.run(['agent', ...where, ...room]));
  }
}

function serverOf(installed: Installation): Child {
  return installed.run([
    ...['serve', '--listen', '127.0.0.1:0', '--store', `sqlite:${installed.store}`, '--access', 'token', '--no-runner'],
    // Killed agents come back later on a busy machine; their runs must not be given to others meanwhile.
    ...['--seed', join(installed.folder, 'seed.json'), '--allow-outbound', '127.0.0.0/8'],
    ...['--set', 'scheduling.heartbeatTtl=10m'],
  ]);
}
