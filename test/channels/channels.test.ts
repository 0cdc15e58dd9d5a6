import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../adapters/memory/index.js';
import { type Channel, type ChannelBounds, ChannelBroken } from '../../src/channels/channel.js';
import { Channels } from '../../src/channels/channels.js';
import { encodeFrame, encodeItem, type Item } from '../../src/channels/frame.js';
import { socketPair } from '../../src/client/socket-pair.js';

const small: ChannelBounds = { window: 64, item: 4096, part: 16, channels: 3 };

interface Ends {
  readonly asking: Channels;
  /** Channels as the other end gets them. */
  readonly opened: Channel[];
  readonly clock: ManualClock;
  readonly sockets: ReturnType<typeof socketPair>;
  close(): Promise<void>;
}

const open: Ends[] = [];
afterEach(async () => {
  for (const ends of open.splice(0)) await ends.close();
});

function connected(bounds: ChannelBounds, answer: (channel: Channel) => void = () => undefined): Ends {
  const clock = manualClock();
  const sockets = socketPair();
  const opened: Channel[] = [];
  const onOpen = (channel: Channel): void => {
    opened.push(channel);
    answer(channel);
  };
  const asking = new Channels({ socket: sockets[0], clock, bounds });
  const answering = new Channels({ socket: sockets[1], clock, bounds, onOpen });
  const running = Promise.all([asking.run(), answering.run()]);
  const close = async (): Promise<void> => {
    sockets[0].close();
    await running;
  };
  const ends = { asking, opened, clock, sockets, close };
  open.push(ends);
  return ends;
}

function echo(channel: Channel): void {
  void (async () => {
    for await (const item of channel) if (!(await channel.send(item))) return;
    channel.end();
  })().catch(() => undefined);
}

function must(channel: Channel | undefined): Channel {
  if (channel === undefined) throw new Error('no channel');
  return channel;
}

async function all(channel: Channel): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of channel) items.push(item);
  return items;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('channels', () => {
  it('carry items of any size in order, many at once', async () => {
    const lists = fc.array(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(lists, async (conversations) => {
        const { asking, close } = connected(small, echo);
        const heard = await Promise.all(
          conversations.map(async (sent) => {
            const channel = must(asking.open());
            const items = all(channel);
            for (const bytes of sent) await channel.send({ type: 'data', bytes });
            channel.end();
            return items;
          }),
        );
        expect(heard).toEqual(conversations.map((sent) => sent.map((bytes) => ({ type: 'data', bytes }))));
        await close();
      }),
      { numRuns: 30 },
    );
  });

  it('hold a sender back until the reader takes what is there, and no other channel with it', async () => {
    const { asking, opened } = connected(small);
    const slow = must(asking.open());
    let sent = 0;
    void (async () => {
      while (sent < 1000 && (await slow.send({ n: sent }))) sent += 1;
    })();
    for (let turns = 0; turns < 50; turns += 1) await turn();
    expect(sent).toBeLessThan(10);
    const quick = must(asking.open());
    await quick.send({ hello: 'there' });
    await turn();
    const [first, second] = opened;
    expect(await must(second)[Symbol.asyncIterator]().next()).toEqual({ value: { hello: 'there' }, done: false });
    const reader = must(first)[Symbol.asyncIterator]();
    for (let n = 0; n < 100; n += 1) expect((await reader.next()).value).toEqual({ n });
    expect(sent).toBeGreaterThan(99);
  });

  it('end in both directions, each for itself', async () => {
    const { asking, opened } = connected(small);
    const channel = must(asking.open());
    channel.end();
    await turn();
    const other = must(opened[0]);
    expect(await all(other)).toEqual([]);
    expect(await other.send({ late: true })).toBe(true);
    other.end();
    expect(await all(channel)).toEqual([{ late: true }]);
    expect(await channel.send({ more: true })).toBe(false);
  });

  it('break off at both ends, with the reason', async () => {
    const { asking, opened } = connected(small);
    const channel = must(asking.open());
    await turn();
    const other = must(opened[0]);
    const reading = all(other);
    channel.reset('enough');
    await expect(reading).rejects.toThrow(new ChannelBroken('enough'));
    expect(other.gone.aborted).toBe(true);
    await expect(all(channel)).rejects.toThrow(ChannelBroken);
  });

  it('break off when their reader leaves', async () => {
    const { asking, opened } = connected(small);
    const channel = must(asking.open());
    await turn();
    const other = must(opened[0]);
    await other.send({ n: 1 });
    await other.send({ n: 2 });
    for await (const _first of channel) break;
    await turn();
    expect(other.gone.aborted).toBe(true);
    expect(await other.send({ n: 3 })).toBe(false);
  });

  it('break off with their connection, after what has come', async () => {
    const { asking, opened, sockets } = connected(small);
    const channel = must(asking.open());
    await turn();
    await must(opened[0]).send({ n: 1 });
    await turn();
    sockets[1].cut();
    const reader = channel[Symbol.asyncIterator]();
    expect((await reader.next()).value).toEqual({ n: 1 });
    await expect(reader.next()).rejects.toThrow('the connection is lost');
    expect(asking.open()).toBeUndefined();
  });

  it('are limited in number, and the numbers of closed channels are used again', async () => {
    const { asking } = connected(small, echo);
    const three = [must(asking.open()), must(asking.open()), must(asking.open())];
    expect(asking.open()).toBeUndefined();
    for (const channel of three) channel.end();
    for (const channel of three) await all(channel);
    expect(asking.open()).toBeDefined();
  });

  it('do not carry an item that is longer than may be', async () => {
    const { asking, opened } = connected(small);
    const channel = must(asking.open());
    expect(await channel.send({ bytes: new Uint8Array(5000) })).toBe(false);
    await turn();
    await expect(all(must(opened[0]))).rejects.toThrow('longer than 4096 bytes');
  });
});

describe('a connection', () => {
  it('without a sign of life counts as lost', async () => {
    const clock = manualClock();
    const [own, silent] = socketPair();
    const asking = new Channels({ socket: own, clock, bounds: small });
    const running = asking.run();
    const channel = must(asking.open());
    // Somebody takes what is sent, and says nothing.
    void (async () => {
      for await (const _message of silent.messages);
    })();
    await clock.advance(60_000);
    await running;
    await expect(all(channel)).rejects.toThrow(ChannelBroken);
  });

  it('that says nothing but has signs of life goes on', async () => {
    const { asking, clock } = connected(small, echo);
    for (let passed = 0; passed < 100; passed += 1) {
      await clock.advance(5000);
      await turn();
    }
    const channel = must(asking.open());
    await channel.send({ still: 'there' });
    channel.end();
    expect(await all(channel)).toEqual([{ still: 'there' }]);
  });

  const part = (channel: number, bytes: Uint8Array, isLast: boolean) =>
    encodeFrame({ type: 'part', channel, bytes, isLast });

  it.each([
    ['text', 'hello'],
    ['an unknown kind', new Uint8Array([99, 0, 0, 0, 1])],
    ['a channel that only the other end may open', encodeFrame({ type: 'open', channel: 7 })],
  ])('ends with who sends %s', async (_name, message) => {
    const [own, hostile] = socketPair();
    const asking = new Channels({ socket: own, clock: manualClock(), bounds: small });
    const running = asking.run();
    await hostile.send(message);
    await running;
    expect(await hostile.closed).toMatchObject({ code: 1008 });
  });

  it.each([
    ['more than the window', [part(1, new Uint8Array(65), true)]],
    ['an item without an end', Array.from({ length: 300 }, () => part(1, new Uint8Array(16), false))],
    ['what is no item', [part(1, new Uint8Array(10), true)]],
    ['more after the end', [encodeFrame({ type: 'end', channel: 1 }), part(1, encodeItem({}), true)]],
  ])('breaks a channel off that gets %s, and goes on', async (_name, messages) => {
    const [own, hostile] = socketPair();
    const asking = new Channels({ socket: own, clock: manualClock(), bounds: small });
    const running = asking.run();
    void (async () => {
      for await (const _message of hostile.messages);
    })();
    const channel = must(asking.open());
    for (const message of messages) await hostile.send(message);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(await channel.send({ n: 1 })).toBe(false);
    expect(asking.open()).toBeDefined();
    hostile.close();
    await running;
  });

  it('takes frames of channels that nobody knows', async () => {
    const { sockets, asking } = connected(small, echo);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 50, max: 2 ** 32 - 1 }),
        fc.uint8Array({ maxLength: 20 }),
        async (id, bytes) => {
          await sockets[1].send(part(id, bytes, true));
          await sockets[1].send(encodeFrame({ type: 'credit', channel: id, bytes: 2 ** 31 }));
          await sockets[1].send(encodeFrame({ type: 'reset', channel: id, reason: 'x' }));
        },
      ),
      { numRuns: 20 },
    );
    const channel = must(asking.open());
    await channel.send({ still: 'there' });
    channel.end();
    expect(await all(channel)).toEqual([{ still: 'there' }]);
  });
});
