import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../access/principal.js';
import type { Call } from '../api/call.js';
import type { ErrorOf, ErrorTag } from '../api/errors.js';
import type { InputValues } from '../api/inputs.js';
import type { MessageSocket } from '../api/message-socket.js';
import type { FieldFault, InvalidAttributes } from '../notifications/errors.js';
import type { EngineContext } from './context/engine-context.js';
import type { Waiting } from './waiting/blocking-query.js';

/** The circumstances of a call, in addition to its inputs. */
export interface CallManner {
  /** How a read waits. */
  readonly waiting: Waiting;
  /** Faults outside of the attributes of a request document; the operation reports them with its own. */
  readonly faults: readonly FieldFault[];
  /**
   * Whether documents have the wire form of existing clients: durations are numbers, and unknown fields are
   * ignored. Absent for the typed clients.
   */
  readonly fromWire?: boolean;
  /** Whose records, rules and words the caller expects: `upstream` those of Nomad and its clients. Neutral when absent. */
  readonly names?: 'neutral' | 'upstream';
  /** Aborts when the caller disconnects. Only streams and sockets last long enough to need it. */
  readonly signal: AbortSignal;
}

/** What calls of each kind get of the circumstances, beside their inputs. */
interface Circumstances {
  readonly waiting: Pick<CallManner, 'waiting' | 'names'>;
  readonly plain: Pick<CallManner, 'faults' | 'fromWire' | 'names'>;
  readonly stream: Pick<CallManner, 'signal'>;
  readonly socket: Pick<CallManner, 'signal'>;
}

type ErrorsOf<T extends ErrorTag> = ErrorOf<T | 'permission_denied' | 'storage_failed' | 'unknown_region'>;

/** The value that the operation of a call returns. */
interface Outcomes<V> {
  readonly waiting: V;
  readonly plain: V;
  readonly stream: AsyncIterable<V | undefined>;
  readonly socket: (socket: MessageSocket) => Promise<void>;
}

/** The operation behind a call: it gets the inputs of its row and the circumstances, and returns the value of the answer. */
type Operation<C> =
  C extends Call<infer K, infer I, infer V, infer _A, infer T>
    ? (
        context: EngineContext,
        caller: Principal,
        input: InputValues<I> & Circumstances[K],
      ) => ResultAsync<Outcomes<V>[K], ErrorsOf<T>>
    : never;

/** The operations of the calls of one area, by the call's name. */
export type Operations<Calls> = { readonly [M in keyof Calls]: Operation<Calls[M]> };

/** An operation without its types, for calls by name. */
export type AnyOperation = (
  context: EngineContext,
  caller: Principal,
  input: Readonly<Record<string, unknown>>,
) => ResultAsync<unknown, { readonly type: ErrorTag }>;

/** An operation for what a request document describes: faults of the document are refused first. */
export function ofDocument<D, I, T, E>(
  operation: (context: EngineContext, caller: Principal, input: I) => ResultAsync<T, E>,
  inputOf: (document: D) => I,
) {
  return (
    context: EngineContext,
    caller: Principal,
    document: D & Pick<CallManner, 'faults'>,
  ): ResultAsync<T, E | InvalidAttributes> => {
    const { faults } = document;
    if (faults.length > 0) return errAsync({ type: 'invalid_attributes', faults });
    return operation(context, caller, inputOf(document));
  };
}

/** The inputs of a call with what its kind gets of the circumstances. */
export function operationInput(
  { kind }: Pick<Call, 'kind'>,
  input: Readonly<Record<string, unknown>>,
  { waiting, faults, fromWire, names, signal }: CallManner,
): Readonly<Record<string, unknown>> {
  switch (kind) {
    case 'waiting':
      return { ...input, waiting, names };
    case 'plain':
      // A spread takes a slow path of V8 here, which costs more than the rest of a small call.
      return Object.assign({}, input, { faults, fromWire, names });
    case 'stream':
    case 'socket':
      return { ...input, signal };
  }
}
