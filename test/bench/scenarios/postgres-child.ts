import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { createFunctions } from '../../../src/functions.js';
import { createEngine } from '../../../src/index.js';
import { endless, newSchema, register, shared, storeIn } from './postgres-writes.js';

/*
 * Another process on the store of a scenario, which its messages direct: `write` has so many callers write for some milliseconds, `wait` has
 * so many readers wait for changes of the shared rows, and answers each change that the first of them has read, `work` runs functions, and says
 * which run begins.
 */

const [schema = newSchema(), url = '', listenUrl] = process.argv.slice(2);
const storage = await storeIn(schema, listenUrl === undefined ? {} : { listenUrl }, url);

type Message =
  | { readonly type: 'write'; readonly callers: number; readonly milliseconds: number }
  | { readonly type: 'wait'; readonly readers: number }
  | { readonly type: 'work' };

process.on('message', (message: Message) => {
  if (message.type === 'write') void write(message.callers, message.milliseconds);
  else if (message.type === 'work') void work();
  else for (let n = 0; n < message.readers; n += 1) void wait(n === 0);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

async function write(callers: number, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  let done = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < end) {
      await register(storage);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  process.send?.({ done });
}

async function wait(answers: boolean): Promise<void> {
  const signal = new AbortController().signal;
  for (let after = 0; ; ) {
    await storage.waitForChange([shared], after, signal);
    const read = await storage.read((view) => ({
      index: view.tableIndex(shared),
      id: view.get(shared, ['tick'])?.record.text,
    }));
    after = read._unsafeUnwrap().index;
    if (answers) process.send?.({ tick: read._unsafeUnwrap().id, at: performance.timeOrigin + performance.now() });
  }
}

async function work(): Promise<void> {
  const clock = systemClock();
  const engine = createEngine({ storage, clock, ids: randomIds(), delivery: recordingDelivery({ clock }) });
  const began = (n: number) => process.send?.({ began: n, at: performance.timeOrigin + performance.now() });
  // Nobody tells it whether another process is alive, as of another host.
  const functions = createFunctions(engine, [endless(began)]);
  await functions.start();
  process.send?.({ began: 0 });
}
