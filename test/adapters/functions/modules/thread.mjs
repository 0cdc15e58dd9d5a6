import { parentPort } from 'node:worker_threads';

/** The handler of a function that runs in a thread: does what its input asks for. */
const named = (name, message, more = {}) => Object.assign(new Error(message), { name, ...more });

export default async function handler({ what, value }, run) {
  switch (what) {
    case 'double':
      return 2 * value;
    case 'context':
      return {
        id: run.id,
        attempt: run.attempt,
        isLast: run.isLastAttempt,
        meta: run.meta,
        dueAt: run.dueAt instanceof Date,
      };
    case 'report':
      run.log.info('from the thread');
      run.progress({ at: value });
      run.heartbeat();
      return 'reported';
    case 'step': {
      const done = await run.step('a', () => value);
      if (run.attempt === 1) throw new Error('once more');
      return done;
    }
    case 'failing step':
      return run.step('a', () => {
        throw named('TypeError', 'in the step');
      });
    case 'call':
      return run.call('it', { name: 'double' }, value);
    case 'commit':
      return run.commit(1, () => undefined);
    case 'spin':
      for (;;);
    case 'wait':
      await new Promise((resolve) => {
        if (run.signal.aborted) resolve();
        else run.signal.addEventListener('abort', resolve);
      });
      throw run.signal.reason;
    case 'exit':
      return process.exit(3);
    case 'uncaught':
      setImmediate(() => {
        throw new Error('outside of the handler');
      });
      return new Promise(() => undefined);
    case 'function':
      return () => 1;
    case 'progress':
      run.progress('x'.repeat(5000));
      return new Promise((resolve) => setTimeout(resolve, 10_000));
    case 'message':
      parentPort.postMessage(value);
      return 'over';
    case 'hostile error':
      throw value === 'wait'
        ? Object.assign(new Error('x'), { wait: () => 1 })
        : Object.defineProperty(new Error('x'), value, {
            get() {
              throw new Error('do not touch');
            },
          });
    case 'throw':
      throw named(value.name, value.message, value.more);
  }
}
