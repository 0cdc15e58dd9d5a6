import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { FunctionPolicy, Handler, Json } from '../../functions/define-function.js';
import { runs, type StoredRun, type StoredStep, steps } from '../../functions/run.js';
import type { FunctionHost } from '../../ports/function-host.js';
import { commit, type Transaction } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import type { Attempt, AttemptHost, CallRequest } from './attempt.js';
import { newRunOf, type Order, orderOf } from './enqueue.js';
import { FunctionsError, notFound } from './functions-api.js';
import { ownRun } from './run-turn.js';
import { countNew, putNewRun } from './stored-runs.js';

/** The loop, as attempts use it. */
export interface AttemptLoop {
  readonly machine: FunctionHost | undefined;
  noted(attempt: Attempt): void;
  /** A call is under way: the attempt needs no slot. */
  waits(attempt: Attempt): void;
  /** A call has ended; resolves when the attempt has a slot again. */
  resume(attempt: Attempt): Promise<void>;
  /** A call has failed before its run ended, or the run has ended. */
  goesOn(attempt: Attempt): void;
  untilEnded(number: number): Promise<unknown>;
}

/** What attempts read and write while they are under way. Each write counts only for the start that is stored. */
export class StoredAttempts implements AttemptHost {
  readonly context: EngineContext;
  readonly #policies: ReadonlyMap<string, FunctionPolicy>;
  readonly #loop: AttemptLoop;

  constructor(context: EngineContext, policies: ReadonlyMap<string, FunctionPolicy>, loop: AttemptLoop) {
    this.context = context;
    this.#policies = policies;
    this.#loop = loop;
  }

  get commitFault(): string | undefined {
    return 'alongside' in this.context.storage
      ? undefined
      : 'run.commit needs a store that has the tables of the host, such as sqliteStorage';
  }

  handlerOf({ handler, thread }: FunctionPolicy): Handler<unknown, unknown> | undefined {
    return thread === undefined ? handler : this.#loop.machine?.inThread(thread);
  }

  noted(attempt: Attempt): void {
    this.#loop.noted(attempt);
  }

  async steps({ run: { number } }: Attempt): Promise<Map<string, StoredStep>> {
    const read = await this.context.storage.read((view) => view.list(steps, { prefix: [number] }));
    if (read.isErr()) throw new Error(`the steps of the run cannot be read: ${read.error.message}`);
    return new Map(read.value.map(({ record }) => [record.name, record]));
  }

  async keep(attempt: Attempt, name: string, value: Json | undefined): Promise<void> {
    await this.#write(attempt, name, (tx) =>
      tx.put(steps, { run: attempt.run.number, name, ...(value === undefined ? {} : { value }) }),
    );
  }

  async call(
    attempt: Attempt,
    name: string,
    called: StoredStep | undefined,
    request: CallRequest,
  ): Promise<StoredStep> {
    const { maximumValueBytes: mostBytes } = this.context.settings.functions;
    const order =
      called === undefined ? await orderOf(this.#policies, { ...request, mostBytes, caller: 'run.call' }) : undefined;
    this.#loop.waits(attempt);
    try {
      const number = await this.#write(attempt, name, (tx, run) => {
        const found = called?.called?.number ?? putCalled(tx, run, name, order);
        if (typeof found === 'number') tx.put(runs, { ...run, state: 'waiting' });
        return found;
      });
      if (typeof number !== 'number') throw number;
      await unlessAborted(attempt, this.#loop.untilEnded(number));
    } catch (error) {
      this.#loop.goesOn(attempt);
      throw error;
    }
    await this.#loop.resume(attempt);
    const all = await this.steps(attempt);
    return all.get(name) ?? { run: attempt.run.number, name };
  }

  async #write<T>(attempt: Attempt, name: string, work: (tx: Transaction, run: StoredRun) => T): Promise<T> {
    const written = await commit(this.context, hostPrincipal, (tx): Result<T, { readonly message: string }> => {
      const run = ownRun(tx, attempt);
      return run === undefined ? err({ message: lost }) : ok(work(tx, run));
    });
    if (written.isOk()) return written.value.value;
    if (written.error.message === lost) attempt.abort('lost', Number.POSITIVE_INFINITY);
    throw new Error(`the step '${name}' is not stored: ${written.error.message}`);
  }
}

const lost = 'another process has the run';

/** Enqueues the run that another one calls; its number, or why it is not. */
function putCalled(
  tx: Transaction,
  parent: StoredRun,
  step: string,
  order: Order | undefined,
): number | FunctionsError {
  if (order === undefined) return notFound(`called as '${step}'`);
  if (parent.cancelling !== undefined)
    return new FunctionsError('run_not_found', 'the run is cancelled: it calls nothing more');
  const full = countNew(tx, order.policy.name);
  if (full !== undefined) return full;
  const number = tx.index;
  const run = newRunOf(order, {}, number, tx.now);
  const trace = parent.trace === undefined ? {} : { trace: parent.trace };
  const owned = { ...run, ...trace, parent: { run: parent.number, function: parent.function, step } };
  putNewRun(tx, owned, order.text?.length ?? 0);
  tx.put(steps, { run: parent.number, name: step, called: { number, function: run.function } });
  return number;
}

/** The end of a wait, or the reason of an abort. */
export function unlessAborted<T>({ signal }: Attempt, wait: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    wait.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
