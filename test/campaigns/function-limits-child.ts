import { createFunctions, defineFunction } from '../../adapters/functions/index.js';
import { recordingDelivery } from '../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../adapters/node/index.js';
import { sqliteStorage } from '../../adapters/sqlite/index.js';
import { createEngine } from '../../src/index.js';

/*
 * One process of the campaign of limits: runs what is there, and prints when each attempt begins and how it ends, by a clock that all
 * processes of the machine share.
 */
const [, , file = ''] = process.argv;
const say = (...parts: readonly (string | number)[]): boolean => process.stdout.write(`${parts.join(' ')}\n`);
const now = (): number => Number(process.hrtime.bigint() / 1000n);

const work = defineFunction<{ key: string }, { key: string }>(
  {
    name: 'work',
    concurrency: { limit: 1, key: ({ key }) => key },
    keep: { succeeded: { count: 1_000_000 }, others: { count: 1_000_000 } },
    retry: { attempts: 20, backoff: 'fixed', delay: 10 },
  },
  async ({ key }, run) => {
    say('began', run.id, key, now());
    for (let part = 0; part < 10 && !run.signal.aborted; part += 1)
      await new Promise((resolve) => setTimeout(resolve, 5));
    say(run.signal.aborted ? 'aborted' : 'ended', run.id, key, now());
  },
);

const opened = await sqliteStorage(file);
if (opened.isErr()) throw new Error(opened.error.message);
const clock = systemClock();
const engine = createEngine({
  storage: opened.value,
  clock,
  ids: randomIds(),
  delivery: recordingDelivery({ clock }),
});
await createFunctions(engine, [work], { lease: '1s', concurrency: 4 }).start();
setInterval(() => undefined, 1000);
say('ready');
