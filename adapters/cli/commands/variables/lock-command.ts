import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { SignalboxError } from '../../../../src/client/index.js';
import { systemClock } from '../../../node/index.js';
import { type Command, command } from '../../command-line/command.js';
import { Stopped } from '../../stopped.js';
import type { Terminal } from '../../terminal.js';
import { acquireLock, type HeldLock, type LockedVariable, releaseLock, renewLock } from '../../variables/held-lock.js';
import { durationOption } from '../option-values.js';

/** Milliseconds that a command has to end after SIGTERM when its lock is lost. */
const grace = 5000;

/** `var lock`: a command that runs in one place at a time. */
export const lockVariable: Command = command({
  words: 'var lock',
  parameters: 'PATH COMMAND [ARGS...]',
  summary:
    'run a command while the lock of a variable is held, with its exit code; a COMMAND without ARGS goes to the shell',
  optionsFirst: true,
  raw: true,
  options: {
    ttl: { type: 'text', value: 'TIME', summary: 'how long the lock is held when nothing renews it, 10s to 24h (15s)' },
    delay: { type: 'text', value: 'TIME', summary: 'how long nobody else can take it after it is lost (15s)' },
    'max-wait': { type: 'text', value: 'TIME', summary: 'give up when another one still holds it after this time' },
  },
  run: async ({ box, inNamespace, options, parameters, terminal }) => {
    const [path = '', ...words] = parameters;
    const { ttl, delay, 'max-wait': most } = options;
    const terms = {
      ...(ttl === undefined ? {} : { ttl: durationOption('ttl', ttl) }),
      ...(delay === undefined ? {} : { delay: durationOption('delay', delay) }),
    };
    const patience = most === undefined ? Number.POSITIVE_INFINITY : durationOption('max-wait', most);
    const variable: LockedVariable = { box, path, inNamespace };
    const clock = systemClock();
    const lock = await acquireLock(variable, terms, clock, patience);
    if (lock === undefined) throw new Stopped(`variable ${path} is locked`);
    const ended = new AbortController();
    const child = new Child(words);
    const renewing = renewLock(variable, lock, clock, ended.signal).catch((error: unknown) => {
      child.end();
      return error;
    });
    const [outcome] = await Promise.allSettled([child.ended]);
    ended.abort();
    const fault = await renewing;
    if (fault !== undefined) throw fault;
    await givenBack(variable, lock, terminal);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  },
});

/** The result of the command counts, even if the lock cannot be released. */
async function givenBack(variable: LockedVariable, lock: HeldLock, { error }: Terminal): Promise<void> {
  try {
    await releaseLock(variable, lock);
  } catch (fault) {
    if (!(fault instanceof SignalboxError)) throw fault;
    error(`the lock was not released and lasts until its TTL is over: ${fault.message}\n`);
  }
}

/** A command with this process's streams. Signals are forwarded to it, so that the lock is released after its end. */
class Child {
  readonly ended: Promise<number>;
  readonly #process: ChildProcess;

  constructor(words: readonly string[]) {
    const [name = '', ...args] = words;
    this.#process = spawn(name, args, { stdio: 'inherit', shell: args.length === 0 });
    const pass = (signal: NodeJS.Signals): void => void this.#process.kill(signal);
    // A terminal sends SIGINT to the command itself, too.
    const ignore = (): void => undefined;
    process.on('SIGTERM', pass).on('SIGINT', ignore);
    this.ended = new Promise<number>((resolve, reject) => {
      this.#process.once('error', (error) => reject(new Stopped(`${name} cannot be run: ${error.message}`, 127)));
      this.#process.once('exit', (code, signal) => {
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
      });
    }).finally(() => process.off('SIGTERM', pass).off('SIGINT', ignore));
  }

  end(): void {
    this.#process.kill('SIGTERM');
    setTimeout(() => this.#process.kill('SIGKILL'), grace).unref();
  }
}
