import { errAsync, ok, okAsync } from 'neverthrow';
import { afterEach, describe, expect, it } from 'vitest';
import { type ManualClock, manualClock, memoryStorage, recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds } from '../../../adapters/node/index.js';
import {
  type CommandInput,
  type CommandOutput,
  type CommandPerformer,
  commandRefused,
  type NodeCommand,
} from '../../../src/agent/link/node-command.js';
import { nodeConnections, relayMessages, relaySessions } from '../../../src/agent/link/relay.js';
import { createEngine, type Engine } from '../../../src/index.js';
import { performOnNode } from '../../../src/operations/node-commands/perform-on-node.js';
import type { Cipher } from '../../../src/ports/cipher.js';
import type { Storage } from '../../../src/ports/storage.js';
import { collectGarbage } from '../../support/collect-garbage.js';

const nodeId = 'n1';
const usage = { tasks: {}, at: 5 };
const stats = { type: 'stats', allocationId: 'a', task: null } as const;
const exec = { type: 'exec', allocationId: 'a', task: 't', command: ['sh'], terminal: false } as const;
const read = { type: 'read_file', allocationId: 'a', path: 'f', offset: 0, limit: null } as const;

/** Two servers over one store. The agent is connected to the first; commands are given to the second. */
interface House {
  readonly storage: Storage;
  readonly clock: ManualClock;
  readonly holder: Engine;
  readonly asker: Engine;
}

const engines: Engine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
});

function house(cipher?: Cipher): House {
  const storage = memoryStorage();
  const clock = manualClock();
  const [holder, asker] = ['a.example:1', 'b.example:2'].map((address) => {
    const ports = { storage, clock, ids: randomIds(), delivery: recordingDelivery(), ...(cipher && { cipher }) };
    const engine = createEngine(ports, { notifications: { publicOrigin: `http://${address}` } });
    engine.start();
    engines.push(engine);
    return engine;
  }) as [Engine, Engine];
  return { storage, clock, holder, asker };
}

async function count(storage: Storage): Promise<readonly number[]> {
  const tables = [nodeConnections, relaySessions, relayMessages] as const;
  return (
    await storage.read((view) => tables.map((each) => view.list(each as typeof relaySessions).length))
  )._unsafeUnwrap();
}

async function connected(house: House, performer: CommandPerformer): Promise<() => void> {
  const detach = house.holder.agents.attach(nodeId, performer);
  await expect.poll(() => count(house.storage)).toEqual([1, 0, 0]);
  return detach;
}

/** The row of a server that was killed. */
async function announceDead({ storage }: House): Promise<void> {
  const dead = { NodeID: nodeId, owner: 'dead', address: 'c.example:3' };
  (await storage.write((view) => ok(view.put(nodeConnections, dead))))._unsafeUnwrap();
}

function ask({ asker }: House, command: NodeCommand, input: AsyncIterable<CommandInput> = none(), signal = never) {
  return performOnNode(asker, nodeId, { command, input, signal });
}

async function* none(): AsyncGenerator<CommandInput> {
  yield* [];
}

const never = new AbortController().signal;

async function* outputs(...all: readonly CommandOutput[]): AsyncGenerator<CommandOutput> {
  yield* all;
}

async function all(iterable: AsyncIterable<CommandOutput>): Promise<CommandOutput[]> {
  const found: CommandOutput[] = [];
  for await (const each of iterable) found.push(each);
  return found;
}

describe('a command for a node that is connected to another server over the store', () => {
  it('is carried out there, and leaves nothing behind', async () => {
    const own = house();
    const taken: NodeCommand[] = [];
    await connected(own, (command) => {
      taken.push(command);
      return okAsync(outputs({ type: 'value', value: usage }));
    });
    const answered = (await ask(own, stats))._unsafeUnwrap();
    expect(await all(answered)).toEqual([{ type: 'value', value: usage }]);
    expect(taken).toEqual([stats]);
    await expect.poll(() => count(own.storage)).toEqual([1, 0, 0]);
  });

  it('is refused as the node refuses it', async () => {
    const own = house();
    await connected(own, () => errAsync(commandRefused('invalid', 'no such signal')));
    expect((await ask(own, stats))._unsafeUnwrapErr()).toEqual(commandRefused('invalid', 'no such signal'));
    await expect.poll(() => count(own.storage)).toEqual([1, 0, 0]);
  });

  it('streams megabytes without storing more than a window of them', async () => {
    const own = house();
    const piece = (at: number): CommandOutput => ({
      type: 'piece',
      file: 'f',
      offset: at,
      bytes: new Uint8Array(50_000).fill(at),
    });
    await connected(own, () => okAsync(outputs(...Array.from({ length: 60 }, (_, at) => piece(at)))));
    const answered = (await ask(own, read))._unsafeUnwrap();
    let most = 0;
    let got = 0;
    for await (const output of answered) {
      expect(output.type === 'piece' && Buffer.compare(output.bytes, new Uint8Array(50_000).fill(got))).toBe(0);
      got += 1;
      most = Math.max(most, (await count(own.storage))[2] ?? 0);
    }
    expect(got).toBe(60);
    expect(most).toBeLessThanOrEqual(12);
  });

  it('keeps nothing of the input that was passed on', async () => {
    const own = house();
    await connected(own, (_command, input) =>
      okAsync(
        (async function* (): AsyncGenerator<CommandOutput> {
          for await (const each of input) if (each.type === 'end') yield { type: 'value', value: null };
        })(),
      ),
    );
    const given: WeakRef<Uint8Array>[] = [];
    let alive = Number.NaN;
    const pieces = (async function* (): AsyncGenerator<CommandInput> {
      for (let at = 0; at < 100; at += 1) {
        const bytes = new Uint8Array(20_000).fill(at);
        given.push(new WeakRef(bytes));
        yield { type: 'data', bytes };
      }
      await new Promise(setImmediate);
      collectGarbage();
      alive = given.filter((piece) => piece.deref() !== undefined).length;
      yield { type: 'end' };
    })();
    await all((await ask(own, exec, pieces))._unsafeUnwrap());
    expect(alive).toBeLessThan(10);
  });

  it('takes input while it answers', async () => {
    const own = house();
    await connected(own, (_command, input) => okAsync(echo(input)));
    let heard: () => void = () => undefined;
    const spoken = (async function* (): AsyncGenerator<CommandInput> {
      for (const text of ['one', 'two']) {
        const echoed = new Promise<void>((resolve) => {
          heard = resolve;
        });
        yield { type: 'data', bytes: new TextEncoder().encode(text) };
        await echoed;
      }
      yield { type: 'end' };
    })();
    const answers = (await ask(own, exec, spoken))._unsafeUnwrap()[Symbol.asyncIterator]();
    for (const text of ['one', 'two']) {
      const { value } = (await answers.next()) as { value: CommandOutput };
      expect(value.type === 'data' && new TextDecoder().decode(value.bytes)).toBe(text);
      heard();
    }
    expect((await answers.next()).value).toEqual({ type: 'exited', code: 0 });
    expect((await answers.next()).done).toBe(true);
    await expect.poll(() => count(own.storage)).toEqual([1, 0, 0]);
  });

  it('ends on its node when the asker leaves', async () => {
    const own = house();
    const ended = new Promise<void>((resolve) => {
      void connected(own, (_command, _input, signal) => {
        signal.addEventListener('abort', () => resolve());
        return okAsync(until(signal));
      });
    });
    await expect.poll(() => count(own.storage)).toEqual([1, 0, 0]);
    const leaving = new AbortController();
    (await ask(own, exec, none(), leaving.signal))._unsafeUnwrap();
    leaving.abort();
    await ended;
    await expect.poll(() => count(own.storage)).toEqual([1, 0, 0]);
  });

  it('breaks off when the other server stops, which is announced no longer', async () => {
    const own = house();
    await connected(own, (_command, _input, signal) => okAsync(until(signal)));
    const reading = all((await ask(own, read))._unsafeUnwrap()).catch((error: unknown) => String(error));
    const running = all((await ask(own, exec))._unsafeUnwrap());
    await own.holder.stop();
    expect(await reading).toContain('the connection is lost');
    // A conversation has a word for it.
    const message = 'The node gave no further answer: the connection is lost';
    expect((await running).at(-1)).toEqual({ type: 'failed', message });
    await expect.poll(() => count(own.storage)).toEqual([0, 0, 0]);
    expect((await ask(own, stats))._unsafeUnwrapErr()).toEqual(commandRefused('not_found', 'No path to node'));
  });

  it('names the server that does not answer', async () => {
    const own = house();
    await announceDead(own);
    const asked = ask(own, stats);
    await expect.poll(() => count(own.storage)).toEqual([1, 1, 2]);
    await own.clock.advance(5000);
    expect((await asked)._unsafeUnwrapErr()).toMatchObject({
      type: 'command_failed',
      message: 'No path to node: its server c.example:3 does not respond',
    });
    await expect.poll(() => count(own.storage)).toEqual([1, 0, 0]);
  });

  it('is stored sealed if the host has a cipher', async () => {
    const own = house({ seal: (plain) => `sealed ${plain}`, open: (sealed) => ok(sealed.slice(7)) });
    await connected(own, () => okAsync(outputs({ type: 'value', value: usage })));
    expect(await all((await ask(own, stats))._unsafeUnwrap())).toEqual([{ type: 'value', value: usage }]);
    await announceDead(own);
    const asked = ask(own, stats);
    await expect.poll(() => count(own.storage)).toEqual([1, 1, 2]);
    const rows = await own.storage.read((view) =>
      view.list(relayMessages).map(({ record }) => record.data.slice(0, 7)),
    );
    expect(rows._unsafeUnwrap()).toEqual(['sealed ', 'sealed ']);
    await own.clock.advance(5000);
    expect((await asked).isErr()).toBe(true);
  });
});

it('a session whose sender has died is removed', async () => {
  const own = house();
  const left = { id: 's', nodeId, to: 'dead', beat: 0 };
  (
    await own.storage.write((view) => {
      view.put(relaySessions, left);
      view.put(relayMessages, { session: 's', sender: 'from', number: 1, data: '' });
      return ok(undefined);
    })
  )._unsafeUnwrap();
  await own.clock.advance(179_000);
  expect(await count(own.storage)).toEqual([0, 1, 1]);
  await own.clock.advance(1000);
  await expect.poll(() => count(own.storage)).toEqual([0, 0, 0]);
});

it('a connection that has moved to another server stays announced there', async () => {
  const own = house();
  const detach = await connected(own, () => okAsync(outputs()));
  own.asker.agents.attach(nodeId, () => okAsync(outputs()));
  const owner = async (): Promise<unknown> =>
    (await own.storage.read((view) => view.get(nodeConnections, [nodeId])?.record.owner))._unsafeUnwrap();
  await expect.poll(owner).toBe(own.asker.owner);
  own.holder.agents.attach('n2', () => okAsync(outputs()));
  await expect.poll(() => count(own.storage)).toEqual([2, 0, 0]);
  detach();
  own.holder.agents.attach('n3', () => okAsync(outputs()));
  await expect.poll(() => count(own.storage)).toEqual([3, 0, 0]);
  expect(await owner()).toBe(own.asker.owner);
});

async function* echo(input: AsyncIterable<CommandInput>): AsyncGenerator<CommandOutput> {
  for await (const each of input) {
    if (each.type === 'data') yield { type: 'data', stream: 'stdout', bytes: each.bytes };
  }
  yield { type: 'exited', code: 0 };
}

/** Nothing, until the signal aborts. */
async function* until(signal: AbortSignal): AsyncGenerator<CommandOutput> {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  yield* [];
}
