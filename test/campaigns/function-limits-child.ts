import { createFunctions, defineFunction } from '../../adapters/functions/index.js';
import { engineOver, pause, say } from '../support/children.js';

/*
 * One process of the campaign of limits: runs what is there, and prints when each attempt begins and how it ends, by a clock that all
 * processes of the machine share.
 */
const [, , file = ''] = process.argv;
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
    for (let part = 0; part < 10 && !run.signal.aborted; part += 1) await pause(5);
    say(run.signal.aborted ? 'aborted' : 'ended', run.id, key, now());
  },
);

const { engine } = await engineOver(file);
await createFunctions(engine, [work], { lease: '1s', concurrency: 4 }).start();
setInterval(() => undefined, 1000);
say('ready');
