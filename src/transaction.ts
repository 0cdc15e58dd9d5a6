import { err, type ResultAsync } from 'neverthrow';
import { type Principal, principalFault } from './access/principal.js';
import { api } from './api/index.js';
import { type Client, clientOver, type Transport } from './client/client.js';
import { aborted } from './client/client-error.js';
import { orThrow, SignalboxError } from './client/or-throw.js';
import type { EngineContext } from './operations/context/engine-context.js';
import { isPromise, type OpenTransaction, openTransaction, SharedWrite } from './operations/context/shared-write.js';
import type { Storage } from './ports/storage.js';

/** The calls of the interface that are one write, so that they can be part of a transaction. */
const joining = {
  jobs: [
    'register',
    'update',
    'dispatch',
    'dispatchPayload',
    'revert',
    'scale',
    'evaluate',
    'setStability',
    'tagVersion',
    'untagVersion',
    'forceLaunch',
  ],
  functions: ['enqueue', 'cancelRun', 'retryRun', 'pause', 'resume'],
  notifications: ['send', 'pause', 'resume'],
  variables: ['put', 'remove'],
  workspaces: ['put'],
  users: ['put'],
} as const satisfies { readonly [A in keyof Client]?: readonly (keyof Client[A])[] };

/** A call within a transaction: it rejects where the call of the client returns an error. */
type JoinedMethod<M> = M extends (...args: infer P) => PromiseLike<infer R>
  ? (...args: P) => Promise<R extends { _unsafeUnwrap(): infer V } ? V : never>
  : never;

/** The calls of a client that can be part of a transaction. */
export type TransactionClient = {
  readonly [A in keyof typeof joining]: {
    readonly [M in (typeof joining)[A][number] & keyof Client[A]]: JoinedMethod<Client[A][M]>;
  };
};

/** What the function of `engine.transaction` gets: calls made through it commit together or not at all. */
export interface EngineTransaction extends OpenTransaction {
  /**
   * Calls with the rights of a principal, as those of `engine.as`, if they are one write: registrations and dispatches of jobs, enqueues
   * of functions, events of workspaces and others. They give promises, which reject with a `SignalboxError`.
   */
  as(principal: Principal): TransactionClient;
}

/** The values of the promises that the function of `engine.transaction` returns. */
export type TransactionOutcome<T> =
  T extends PromiseLike<infer V> ? V : { [K in keyof T]: T[K] extends PromiseLike<infer V> ? V : T[K] };

/** Calls of a principal in this process. */
type TransportOf = (context: EngineContext, principal: Principal) => Transport;

/** Performs what the function calls in one write. See `Engine.transaction`. */
export async function transact<T>(
  context: EngineContext,
  work: (transaction: EngineTransaction) => T,
  transportOf: TransportOf,
): Promise<TransactionOutcome<T>> {
  if (typeof work !== 'function') throw new TypeError('engine.transaction: the argument is a function');
  const write = new SharedWrite(context.storage);
  const transaction: EngineTransaction = {
    as: (principal) => {
      const fault = principalFault(principal);
      if (fault !== undefined) throw new TypeError(`transaction.as: ${fault}`);
      return clientIn(write, (storage) => transportOf({ ...context, storage }, principal));
    },
    alongside: (rows) => write.alongside(rows),
    commitWith: (client) => write.commitWith(client),
  };
  openTransaction(transaction, write, context);
  let given: T;
  try {
    given = work(transaction);
    if (isPromise(given) && !write.has(given)) {
      given.then(undefined, () => undefined);
      throw new TypeError(
        'engine.transaction: the function is synchronous: it makes its calls and returns their promises, without async and await',
      );
    }
  } catch (thrown) {
    write.abandon(thrown);
    throw thrown;
  }
  const refusal = await write.commit();
  if (refusal !== undefined) throw exceptionOf(refusal.error);
  return outcomeOf(given);
}

async function outcomeOf<T>(given: T): Promise<TransactionOutcome<T>> {
  if (typeof given !== 'object' || given === null || isPromise(given)) return (await given) as TransactionOutcome<T>;
  const values = await Promise.all(Object.values(given));
  if (Array.isArray(given)) return values as TransactionOutcome<T>;
  return Object.fromEntries(Object.keys(given).map((name, at) => [name, values[at]])) as TransactionOutcome<T>;
}

/** Values with a tag are the errors of the interface and of the store. */
function exceptionOf(error: unknown): unknown {
  const isTagged = typeof (error as { readonly type?: unknown } | undefined)?.type === 'string';
  return isTagged && !(error instanceof Error) ? new SignalboxError(error as { readonly type: string }) : error;
}

type AnyClient = Readonly<Record<string, Readonly<Record<string, (...args: readonly unknown[]) => AnyResult>>>>;
type AnyResult = ResultAsync<unknown, { readonly type: string }>;

function clientIn(write: SharedWrite, transportOver: (storage: Storage) => Transport): TransactionClient {
  const client: Record<string, Record<string, (...args: readonly unknown[]) => Promise<unknown>>> = {};
  for (const [area, calls] of Object.entries(api)) {
    const joined: readonly string[] = joining[area as keyof typeof joining] ?? [];
    client[area] = {};
    for (const method of Object.keys(calls)) {
      const perform = joined.includes(method)
        ? (storage: Storage, args: readonly unknown[]) =>
            orThrow(clientWith(transportOver, storage)[area]?.[method]?.(...args) as AnyResult)
        : () => Promise.reject(new TypeError(unjoined(area, method)));
      client[area][method] = (...args) => write.add(async (storage) => perform(storage, args));
    }
  }
  return client as unknown as TransactionClient;
}

function unjoined(area: string, method: string): string {
  const methods = Object.entries(joining).flatMap(([of, names]) => names.map((name) => `${of}.${name}`));
  return (
    `engine.transaction: ${area}.${method} cannot be part of a transaction, because it is not one write: call it before or after ` +
    `the transaction. These can: ${methods.join(', ')}`
  );
}

/** A client whose calls write to the storage, unless their signal has aborted by then. */
function clientWith(transportOver: (storage: Storage) => Transport, storage: Storage): AnyClient {
  const transport: Pick<Transport, 'answer'> = {
    answer: (call, input, { signal, waiting }) => {
      const own: Storage = {
        ...storage,
        write: (work) =>
          storage.write((view) => (signal?.aborted === true ? (err(aborted) as ReturnType<typeof work>) : work(view))),
      };
      return transportOver(own).answer(call, input, {
        signal: undefined,
        waiting,
      });
    },
  };
  return clientOver(transport as Transport) as unknown as AnyClient;
}
