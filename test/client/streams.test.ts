import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../adapters/compat/index.js';
import type { Client } from '../../src/client/client.js';
import { connect } from '../../src/client/index.js';
import { hostPrincipal } from '../../src/index.js';
import { engineUnderTest } from '../adapters/http-server/engine-under-test.js';

/** A client of a server that answers every request with this text. */
function clientOf(text: string): Client {
  return connect({ url: 'http://127.0.0.1:1', fetch: async () => new Response(text) });
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
}

describe('frames of a file', () => {
  const read = (text: string) => all(clientOf(text).files.logs('a', { task: 't', type: 'stdout' }));

  it('are read as pieces and events, as the client in process gives them', async () => {
    const frames = '{}{"File":"f","Offset":3,"Data":"YWJj"}{"File":"f","FileEvent":"file deleted"}{"Data":"eA=="}';
    expect(await read(frames)).toEqual([
      { type: 'piece', file: 'f', offset: 3, bytes: new Uint8Array([97, 98, 99]) },
      { type: 'file_event', file: 'f', event: 'deleted' },
      { type: 'piece', file: '', offset: 0, bytes: new Uint8Array([120]) },
    ]);
  });

  it.each(['{"Data":7}', '{"Data":"%"}', '{"File":"f","FileEvent":"file moved"}', '{"File":[]}'])(
    'that are none (%s) end the stream with an error',
    async (frame) => {
      await expect(read(frame)).rejects.toMatchObject({ type: 'unexpected_answer' });
    },
  );
});

describe('the log of a server', () => {
  it('comes as lines over both transports', async () => {
    const engine = engineUnderTest();
    const handler = createHttpHandler(engine, { access: 'open' });
    const remote = connect({
      url: 'http://127.0.0.1:1',
      fetch: async (url) => {
        const { pathname, search } = new URL(String(url));
        const { body } = await handler(requestFrom({ target: pathname + search }));
        return new Response(streamOf(body as AsyncIterable<string>));
      },
    });
    const begun = [engine.as(hostPrincipal), remote].map((box) => box.system.monitor()[Symbol.asyncIterator]());
    let isTold = false;
    const told = Promise.all(begun.map((items) => items.next())).finally(() => {
      isTold = true;
    });
    // Readers get what is logged once they are there.
    while (!isTold) {
      engine.logger.info({ a: 1 }, 'hello');
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const { value } of await told) {
      expect(Buffer.from(value as Uint8Array).toString()).toBe('2026-01-01T00:00:00.000Z [INFO]  hello: a=1\n');
    }
    for (const items of begun) await items.return?.(undefined);
  });
});

function streamOf(texts: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const iterator = texts[Symbol.asyncIterator]();
  return new ReadableStream({
    pull: async (controller) => {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(Buffer.from(next.value));
    },
    // It may wait for the next item, which does not come.
    cancel: () => void iterator.return?.(),
  });
}
