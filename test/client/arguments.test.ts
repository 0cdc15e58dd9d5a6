import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpHandler, nodeListener } from '../../adapters/compat/index.js';
import type { Call } from '../../src/api/call.js';
import { callsOf } from '../../src/api/index.js';
import { connect } from '../../src/client/index.js';
import { type Engine, hostPrincipal } from '../../src/index.js';
import { filledEngine } from '../adapters/http-server/engine-under-test.js';
import { pathValues } from '../adapters/http-server/route-samples.js';

/** Every argument of every call, missing and of another type, in process and over HTTP. */

type AnyClient = Readonly<Record<string, Readonly<Record<string, (...args: readonly unknown[]) => unknown>>>>;

let engine: Engine;
let server: Server;
let clients: readonly AnyClient[];
beforeAll(async () => {
  engine = await filledEngine();
  server = createServer(nodeListener(createHttpHandler(engine, { authenticate: () => hostPrincipal })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const far = connect({ url, notificationsPath: engine.settings.notifications.basePath, WebSocket: NoSocket as never });
  clients = [engine.as(hostPrincipal), far] as unknown as readonly AnyClient[];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

class NoSocket {
  constructor() {
    throw new Error('no socket is to be opened');
  }
}

/** What a call comes to with these inputs, on both transports; of a stream, what its first item does. */
async function outcomesOf(area: string, method: string, call: Call, input: Readonly<Record<string, unknown>>) {
  const args = call.args.map((name) => input[name]);
  const options = Object.fromEntries(Object.entries(input).filter(([name]) => !call.args.includes(name)));
  return Promise.all(
    clients.map(async (client) => {
      const made = client[area]?.[method]?.(...args, options);
      if (call.kind !== 'stream') {
        const result = (await made) as { isErr(): boolean; error?: unknown };
        return result.isErr() ? result.error : 'taken';
      }
      try {
        await (made as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
        return 'taken';
      } catch (error) {
        return (error as Error).cause;
      }
    }),
  );
}

/** A value of the right type for each input that a call needs. */
function needed(call: Call): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const [name, { required, locations }] of Object.entries(call.inputs)) {
    const [location] = locations;
    if (!required) continue;
    if (name === 'jobs' || name === 'group') input[name] = name === 'jobs' ? [] : 'g';
    else if (location.in === 'path') input[name] = pathValues[location.name] ?? 'x';
    else if (location.in === 'query') input[name] = sampleOf(location.codec.schema['type']);
    else if (location.in === 'body')
      input[name] = ['x', 1, true, [], {}].find((value) => 'value' in (location.codec.read(value) ?? {}));
    else input[name] = location.in === 'bytes' ? new Uint8Array() : location.in === 'queries' ? [] : {};
  }
  return input;
}

const sampleOf = (type: unknown): unknown =>
  ({ boolean: true, integer: 1, number: 1, array: [], object: {} })[type as 'array'] ?? 'x';

/** Texts of parameters; each is taken by some of them. */
const written = ['x', '1', 'true', '2s', '2026-01-02T03:04:05Z'];

const odd = [5, true, 'text', {}, [], [5], null, () => 1, Symbol('x'), 10n];

const calls = callsOf().filter(({ call }) => Object.keys(call.inputs).length > 0);

describe.each(calls)('$name', ({ area, method, call }) => {
  for (const [name, input] of Object.entries(call.inputs)) {
    const [location] = input.locations;
    if (input.required) {
      it(`is refused without ${name}`, async () => {
        const { [name]: _left, ...others } = needed(call);
        const message = `${area}.${method}: "${name}" is missing`;
        const refusal = { type: 'bad_request', message, parameter: name };
        expect(await outcomesOf(area, method, call, others)).toEqual([refusal, refusal]);
      });
    }
    if (location.in === 'path' || location.in === 'query') {
      it(`is refused with ${name} of another type`, async () => {
        const held = location.codec.holds === undefined ? typeof sampleOf(location.codec.schema['type']) : 'number';
        for (const value of odd.filter((each) => typeof each !== held)) {
          const refused = await outcomesOf(area, method, call, { ...needed(call), [name]: value });
          for (const error of refused)
            expect(error).toMatchObject({ type: 'bad_request', message: expect.stringContaining(`"${name}" must be`) });
        }
      });
      // A stream whose inputs are taken may have nothing to give yet.
      if (call.kind === 'stream') continue;
      it(`is not refused with ${name} as a server reads it`, async () => {
        const values = written.flatMap((each) => location.codec.parse(each, name).unwrapOr([] as never));
        for (const value of values) {
          for (const error of await outcomesOf(area, method, call, { ...needed(call), [name]: value }))
            expect(error).not.toMatchObject({ message: expect.stringContaining(`"${name}" must be`) });
        }
      });
    } else if (call.kind !== 'socket') {
      it(`does not fail in the store with ${name} of any type`, async () => {
        for (const value of odd) {
          for (const error of await outcomesOf(area, method, call, { ...needed(call), [name]: value })) {
            expect(error).not.toMatchObject({ type: 'storage_failed' });
            expect(error).not.toMatchObject({ message: 'internal error; the server log has the cause' });
          }
        }
      });
    }
  }
});

describe('times of lists of events', () => {
  const list = (since: number) => outcomesOf('events', 'list', byName('events.list'), { workspaceId: 'ws-1', since });

  it.each([0, -1, Date.UTC(2026, 0, 2)])('may be %s', async (since) => {
    for (const outcome of await list(since)) expect(outcome).not.toMatchObject({ type: 'bad_request' });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 9e15])('cannot be %s', async (since) => {
    for (const outcome of await list(since))
      expect(outcome).toMatchObject({ type: 'bad_request', message: expect.stringContaining('must be a time') });
  });
});

function byName(name: string): Call {
  const found = calls.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no call ${name}`);
  return found.call;
}
