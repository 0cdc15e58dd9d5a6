import { okAsync } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import type { ManualClock } from '../../../adapters/memory/index.js';
import type { CommandOutput, CommandPerformer } from '../../../src/agent/link/node-command.js';
import { filledEngine } from './engine-under-test.js';
import { pathValues } from './route-samples.js';

/** A node whose files get nothing more after their first piece, until the reader goes. */
const quietNode: CommandPerformer = (_command, _input, signal) => okAsync(outputs(signal));

async function* outputs(signal: AbortSignal): AsyncGenerator<CommandOutput> {
  yield { type: 'piece', file: 'x', offset: 1, bytes: Buffer.from('x') };
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function opened(operation: string) {
  const engine = await filledEngine();
  engine.agents.attach(pathValues['node_id'] ?? '', quietNode);
  const handler = createHttpHandler(engine, { access: 'open' });
  const closers: (() => void)[] = [];
  const target = `/v1/client/fs/${operation.replace('ID', pathValues['allocation_id'] ?? '')}`;
  const request = { ...requestFrom({ target }), whenClosed: (close: () => void) => void closers.push(close) };
  const response = await handler(request);
  expect(response.status).toBe(200);
  const items = (response.body as AsyncIterable<string | Uint8Array>)[Symbol.asyncIterator]();
  const close = (): void => {
    for (const closer of closers) closer();
  };
  return { items, close, clock: engine.clock as ManualClock };
}

describe('a followed file that gets nothing more', () => {
  it.each(['stream/ID?path=x', 'logs/ID?task=t&type=stdout&follow=true'])(
    'shows each second that its server is there: %s',
    async (operation) => {
      const { items, close, clock } = await opened(operation);
      expect((await items.next()).value).toBe('{"Offset":1,"Data":"eA==","File":"x"}');
      for (let beats = 0; beats < 2; beats++) {
        const next = items.next();
        await clock.advance(1000);
        expect((await next).value).toBe('{}');
      }
      const last = items.next();
      close();
      expect((await last).done).toBe(true);
    },
  );

  it('is silent where its bytes are asked for as they are', async () => {
    const { items, close, clock } = await opened('logs/ID?task=t&type=stdout&follow=true&plain=true');
    expect(Buffer.from((await items.next()).value as Uint8Array).toString()).toBe('x');
    const next = items.next();
    await clock.advance(10_000);
    close();
    expect((await next).done).toBe(true);
  });
});
