import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { SignalboxError } from '../../../../src/client/index.js';
import type { Clock } from '../../../../src/ports/index.js';
import { systemClock } from '../../../node/index.js';
import { type Command, command, option } from '../../command-line/command.js';
import { Stopped } from '../../stopped.js';
import type { Terminal } from '../../terminal.js';
import { acquireLock, type HeldLock, type LockedVariable, releaseLock, renewLock } from '../../variables/held-lock.js';
import { durationOption } from '../option-values.js';

/** Milliseconds between SIGTERM and SIGKILL for the command when its lock is lost. */
const grace = 5000;

/** `var lock`: runs a command while holding a lock, so that it runs in one place at a time. */
export const lockVariable: Command = command({
  usage: 'var lock PATH COMMAND [ARGS...]',
  summary:
    'run a command while holding the lock of a variable, and exit with its code; the shell runs a COMMAND without ARGS',
  optionsFirst: true,
  raw: true,
  options: {
    ttl: option.text('TIME', 'how long the lock is held without renewal, 10s to 24h (15s)'),
    delay: option.text('TIME', 'how long others cannot acquire the lock after it was lost (15s)'),
    'max-wait': option.text('TIME', 'give up if the lock is not free after this time'),
  },
  run: async ({ box, inNamespace, options, parameters, terminal }) => {
    const [path = '', ...words] = parameters;
    const { ttl, delay, 'max-wait': most } = options;
    const terms = {
      ...(ttl === undefined ? {} : { ttl: durationOption('ttl', ttl) }),
      ...(delay === undefined ? {} : { delay: durationOption('delay', delay) }),
    };
    const maximumWait = most === undefined ? Number.POSITIVE_INFINITY : durationOption('max-wait', most);
    const variable: LockedVariable = { box, path, inNamespace };
    const clock = systemClock();
    const signals = new Signals();
    try {
      const lock = await acquireLock(variable, terms, { clock, maximumWait, signal: signals.signal });
      if (signals.exitCode === undefined) {
        if (lock === undefined) throw new Stopped(`variable ${path} is locked`);
        return await runHolding({ variable, lock, clock, terminal }, () => new Child(words, signals));
      }
      if (lock !== undefined) await givenBack(variable, lock, terminal);
      return signals.exitCode;
    } finally {
      signals.letGo();
    }
  },
});

/** Runs the command, renewing the lock meanwhile, and releases the lock. Returns the command's exit code. */
async function runHolding(
  { variable, lock, clock, terminal }: { variable: LockedVariable; lock: HeldLock; clock: Clock; terminal: Terminal },
  start: () => Child,
): Promise<number> {
  const ended = new AbortController();
  const child = start();
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
}

/** The result of the command counts, even if the lock cannot be released. */
async function givenBack(variable: LockedVariable, lock: HeldLock, { error }: Terminal): Promise<void> {
  try {
    await releaseLock(variable, lock);
  } catch (fault) {
    if (!(fault instanceof SignalboxError)) throw fault;
    error(`the lock was not released and is held until its TTL expires: ${fault.message}\n`);
  }
}

/**
 * Handles SIGTERM and SIGINT of this process, from before the lock is acquired, so that a signal can never end the process while the
 * lock stays held, or while the command continues without it. Before the command runs, the first signal ends the wait for the lock and
 * the next has its default effect; after that, SIGTERMs are forwarded to the command.
 */
class Signals {
  readonly #received = new AbortController();
  /** Aborts at the first signal. */
  readonly signal = this.#received.signal;
  #exitCode: number | undefined;
  #listener = (signal: NodeJS.Signals): void => {
    this.letGo();
    this.#exitCode = 128 + constants.signals[signal];
    this.#received.abort();
  };

  constructor() {
    this.#listen();
  }

  /** The shell's exit code for a process ended by the first signal; undefined before a signal. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Forwards signals to the command from now on. A terminal sends SIGINT to the command directly. */
  passTo(child: ChildProcess): void {
    this.letGo();
    this.#listener = (signal) => void (signal === 'SIGTERM' && child.kill(signal));
    this.#listen();
  }

  letGo(): void {
    process.off('SIGTERM', this.#listener).off('SIGINT', this.#listener);
  }

  #listen(): void {
    process.on('SIGTERM', this.#listener).on('SIGINT', this.#listener);
  }
}

/** A command with this process's streams. It receives forwarded signals, so that the lock is released after its end. */
class Child {
  readonly ended: Promise<number>;
  readonly #process: ChildProcess;

  constructor(words: readonly string[], signals: Signals) {
    const [name = '', ...args] = words;
    this.#process = spawn(name, args, { stdio: 'inherit', shell: args.length === 0 });
    signals.passTo(this.#process);
    this.ended = new Promise<number>((resolve, reject) => {
      this.#process.once('error', (error) => reject(new Stopped(`${name} cannot be run: ${error.message}`, 127)));
      this.#process.once('exit', (code, signal) => {
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
      });
    });
  }

  end(): void {
    this.#process.kill('SIGTERM');
    setTimeout(() => this.#process.kill('SIGKILL'), grace).unref();
  }
}
