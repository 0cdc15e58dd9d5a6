import { postgresStorage } from '../../../adapters/postgres/index.js';
import { watchedPool } from '../../adapters/postgres/watched-pool.js';
import { commit, things, valueFrom } from '../../conformance/storage/storage-subject.js';

/**
 * Counts in a row that others count in, too, and sends what it has counted: `stopping-child.ts URL SCHEMA turn|run`. With `turn` it stops itself
 * once it holds the lock and is about to commit.
 */
const [url = '', schema = '', mode = ''] = process.argv.slice(2);
let counted = 0;
let isStopped = false;
const pool = watchedPool(url, (trip) => {
  // In a turn, a commit begins with the chain: the lock is held.
  if (
    mode === 'turn' &&
    !isStopped &&
    counted > 5 &&
    trip.texts[0]?.includes('.sb_chain') === true &&
    trip.texts.at(-1) === 'COMMIT'
  ) {
    isStopped = true;
    process.send?.('stopped');
    setTimeout(() => {
      process.kill(process.pid, 'SIGSTOP');
      trip.pass();
    }, 5);
  } else trip.pass();
});
const storage = valueFrom(await postgresStorage(pool, { schema, busyMs: 10_000 }));
process.send?.('ready');
process.once('message', () => {
  void (async () => {
    for (;;) {
      const { value } = await commit(storage, (view) => {
        const next = Number(view.get(things, ['count'])?.record.text ?? 0) + 1;
        view.put(things, { key: ['count'], text: String(next) });
        return next;
      });
      counted += 1;
      process.send?.(value);
    }
  })();
});
