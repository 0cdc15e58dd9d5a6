import { err, errAsync, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { mayCall } from './access/allows.js';
import type { Principal } from './access/principal.js';
import type { CallInput } from './api/answers.js';
import type { Call } from './api/call.js';
import type { ErrorTag } from './api/errors.js';
import { type Api, api, type NamedCall } from './api/index.js';
import { type MessageSocket, socketRefusal } from './api/message-socket.js';
import type { TaggedError, Transport, TransportOptions } from './client/client.js';
import { aborted } from './client/client-error.js';
import { SignalboxError } from './client/or-throw.js';
import { socketPair } from './client/socket-pair.js';
import type { UnknownRegion } from './jobs/errors.js';
import type { EngineContext } from './operations/context/engine-context.js';
import { type AnyOperation, type CallManner, operationInput } from './operations/operation.js';
import { callerAfterWaiting } from './operations/records/caller-standing.js';
import { isOfTokenStore } from './operations/records/presented-secret.js';
import type { Waiting } from './operations/waiting/blocking-query.js';
import { quoted } from './shared/values.js';

type Operations = typeof import('./all-operations.js');

let loaded: Operations | undefined;
let loading: Promise<Operations> | undefined;

/**
 * The operations and loops, which are half of the code. They are no part of what `import 'signalbox'` loads: `createEngine` begins
 * to load them, and what needs them waits.
 */
export function loadOperations(): Promise<Operations> {
  loading ??= import('./all-operations.js').then(
    (operations) => {
      loaded = operations;
      return operations;
    },
    (cause: unknown) => {
      loading = undefined;
      throw new Error(`A file of the package signalbox cannot be loaded; install the package again: ${String(cause)}`, {
        cause,
      });
    },
  );
  return loading;
}

/** Performs `work` with the operations: at once when they have been loaded. */
export function withOperations<T, E>(work: (operations: Operations) => ResultAsync<T, E>): ResultAsync<T, E> {
  return loaded === undefined ? new ResultAsync(loadOperations().then(work)) : work(loaded);
}

/** Identifies a call by its area and its name there. */
export interface CallName {
  /** The member of the client: `jobs`, `nodes`, `notifications`, …. */
  readonly area: string;
  /** The method of that member, such as `register`. */
  readonly method: string;
}

/** Performs one call. */
type PerformCall = (
  call: CallName,
  caller: Principal,
  input: CallInput,
  manner: CallManner,
) => ResultAsync<unknown, { readonly type: ErrorTag }>;

const rows: Readonly<Record<string, Readonly<Record<string, Call>>>> = api;

/** All calls of an engine, for the client in process and the HTTP adapter alike. */
export function boundCalls(context: EngineContext): PerformCall {
  return ({ area, method }, caller, input, manner) => {
    const region = input['region'];
    if (region !== undefined && region !== '' && region !== context.settings.jobs.region) {
      return errAsync(unknownRegion(String(region)));
    }
    const row = rows[area]?.[method];
    if (row === undefined) throw new TypeError(`there is no call ${area}.${method}`);
    return withOperations(({ operations, mayPerform }) => {
      const ofArea = operations[area as keyof Api] as unknown as Readonly<Record<string, AnyOperation>>;
      const operation = ofArea[method] as AnyOperation;
      const answer: Answering = (asCaller, asManner) =>
        mayPerform(row.access, asCaller, input)
          ? operation(context, asCaller, operationInput(row, input, asManner))
          : errAsync(denied);
      if (manner.waiting.after === undefined) return answer(caller, manner);
      const owned = { ...manner, waiting: { ...manner.waiting, owner: caller.accessor } };
      return isOfTokenStore(caller) ? afterWaiting(context, caller, owned, answer) : answer(caller, owned);
    });
  };
}

type Answering = (caller: Principal, manner: CallManner) => ReturnType<AnyOperation>;

/** Repeats a read with the caller's current rights when they changed while it waited. */
function afterWaiting(
  context: EngineContext,
  caller: Principal,
  manner: CallManner,
  answer: Answering,
): ReturnType<AnyOperation> {
  let isChanged = false;
  const whenRightsChanged = (): void => {
    isChanged = true;
  };
  return answer(caller, { ...manner, waiting: { ...manner.waiting, whenRightsChanged } }).andThen((answered) => {
    if (!isChanged) return okAsync(answered);
    return callerAfterWaiting(context, caller).andThen(
      (found): ReturnType<AnyOperation> =>
        found === undefined ? errAsync(denied) : answer(found, { ...manner, waiting: {} }),
    );
  });
}

/** There is one region. Clients match the beginning of the message. */
function unknownRegion(region: string): UnknownRegion {
  return {
    type: 'unknown_region',
    region,
    message: `No path to region: this server does not know ${quoted(region)}`,
  };
}

/** Calls the engine's operations directly, with the rights of the caller. */
export function localTransport(
  context: EngineContext,
  caller: Principal,
  perform: PerformCall = boundCalls(context),
): Transport {
  const performed = (call: NamedCall, input: CallInput, options: TransportOptions) =>
    perform(call, caller, input, mannerOf(options));

  return {
    answer: async (call, input, options): Promise<Result<unknown, TaggedError>> => {
      if (isAborted(options)) return err(aborted);
      if (!mayAsk(call, caller, input)) return err(denied);
      const answered = await performed(call, input, options);
      // The operation is not rolled back, but the result reports the abort, as over a network.
      if (isAborted(options)) return err(aborted);
      return answered.map((value) => call.call.answer.toClient(value, input));
    },
    stream: async function* (call, input, options) {
      if (!mayAsk(call, caller, input)) throw new SignalboxError(denied);
      const begun = await performed(call, input, options);
      if (begun.isErr()) throw new SignalboxError(begun.error);
      for await (const item of begun.value as AsyncIterable<unknown>) {
        if (isAborted(options)) throw new SignalboxError(aborted);
        // `undefined` is a heartbeat for readers over a network.
        if (item !== undefined) yield call.call.answer.toClient(item, input);
      }
    },
    open: async (call, input, options): Promise<Result<MessageSocket, TaggedError>> => {
      if (isAborted(options)) return err(aborted);
      const begun = mayAsk(call, caller, input) ? await performed(call, input, options) : err(denied);
      const [own, served] = socketPair();
      // As over a network: a refusal arrives as the end of an opened socket.
      if (begun.isErr()) {
        const { code, reason } = socketRefusal(call.call, begun.error);
        served.close(code, reason);
        return ok(own);
      }
      const converse = begun.value as (socket: MessageSocket) => Promise<void>;
      void converse(served).then(
        () => served.close(),
        () => served.close(1011, 'internal error'),
      );
      return ok(own);
    },
  };
}

const denied = { type: 'permission_denied' } as const;
const never = new AbortController().signal;
const immediately: Waiting = {};

/** As over a network: a caller that cannot have the right is refused before a body is checked. */
function mayAsk({ call }: NamedCall, caller: Principal, { namespace, workspaceId }: CallInput): boolean {
  if (call.methods[0] === 'GET') return true;
  return mayCall(call.access, caller, { namespace: textOrAbsent(namespace), workspace: textOrAbsent(workspaceId) });
}

function textOrAbsent(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isAborted({ signal }: TransportOptions): boolean {
  return signal?.aborted === true;
}

function mannerOf({ signal, waiting }: TransportOptions): CallManner {
  return {
    waiting: waiting === undefined ? immediately : waitingOf(waiting, signal),
    faults: [],
    signal: signal ?? never,
  };
}

function waitingOf(
  { index, wait }: NonNullable<TransportOptions['waiting']>,
  signal: AbortSignal | undefined,
): Waiting {
  return {
    after: index,
    ...(wait === undefined ? {} : { wait }),
    ...(signal === undefined
      ? {}
      : { whenCancelled: (cancel: () => void) => signal.addEventListener('abort', cancel, { once: true }) }),
  };
}
