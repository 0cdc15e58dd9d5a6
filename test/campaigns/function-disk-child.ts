import { createFunctions, defineFunction } from '../../adapters/functions/index.js';
import { engineOver, pause, say } from '../support/children.js';

/*
 * One process of the campaign of full disks: enqueues at a steady rate, runs what it has enqueued, and prints a line for whatever it
 * asks, gets, does and logs.
 */
const [, , file = ''] = process.argv;

const options = {
  retry: { attempts: 5, backoff: 'fixed', delay: 50 },
  keep: { succeeded: { count: 1_000_000 } },
} as const;
const work = defineFunction<{ n: number; padding: string }, { n: number; padding: string }, string>(
  { name: 'work', ...options },
  async ({ padding }, run) => {
    say('began', run.id);
    await run.step('first', () => {
      say('did', run.id);
      return padding;
    });
    run.log.info(padding);
    run.progress({ of: run.id });
    await pause(5);
    return padding;
  },
);
/** Its outcome is recorded with a row of the host. */
const paid = defineFunction<{ n: number }, { n: number }, number>({ name: 'paid', ...options }, async ({ n }, run) => {
  say('began', run.id);
  // Long enough that several are at this point when there is no room any more.
  await pause(200);
  return run.commit(n, (sql) => sql.run('INSERT INTO paid (id) VALUES (?)', run.id));
});

const logged =
  (level: string) =>
  (first: unknown, second?: unknown): void =>
    void say('logged', level, JSON.stringify([first, second]));
const logger = { debug: () => undefined, info: logged('info'), warn: logged('warn'), error: logged('error') };
const { engine } = await engineOver(file, { logger });
const functions = createFunctions(engine, [work, paid], { concurrency: 32 });
await functions.start();
say('ready');

let last: string | undefined;
async function ask(n: number): Promise<void> {
  const run = n % 4 === 0 ? functions.enqueue(paid, { n }) : functions.enqueue(work, { n, padding: 'x'.repeat(1000) });
  await run.then(
    ({ id }) => {
      last = id;
      say('accepted', id);
    },
    (error: unknown) => say('refused', JSON.stringify(error), String(error)),
  );
}

process.stdin.on('data', () => {
  isOver = true;
});
let isOver = false;
for (let n = 0; !isOver; n += 1) {
  void ask(n);
  await pause(5);
  if (n % 40 === 0 && last !== undefined)
    await (await functions.run(last))?.status().catch((error: unknown) => say('unread', String(error)));
}
say('over');
