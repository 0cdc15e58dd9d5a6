import type { ResultAsync } from 'neverthrow';
import type { Principal } from '../access/principal.js';
import type { Call } from '../api/call.js';
import type { ErrorOf, ErrorTag } from '../api/errors.js';
import type { InputValues } from '../api/inputs.js';
import type { MessageSocket } from '../api/message-socket.js';
import type { FieldFault } from '../notifications/errors.js';
import type { EngineContext } from './context/engine-context.js';
import type { Waiting } from './waiting/blocking-query.js';

/** How a call was made, beside its inputs. */
export interface CallManner {
  /** How a read waits. */
  readonly waiting: Waiting;
  /** What was wrong around the attributes of a request document; the operation reports it with its own findings. */
  readonly faults: readonly FieldFault[];
  /**
   * Whether documents are written as existing clients of the wire do: durations are numbers there, and unknown fields are
   * passed over. Absent for the typed clients.
   */
  readonly fromWire?: boolean;
  /** Aborts when the caller disconnects. Only streams and sockets last long enough to need it. */
  readonly signal: AbortSignal;
}

type ErrorsOf<T extends ErrorTag> = ErrorOf<T | 'permission_denied' | 'storage_failed' | 'unknown_region'>;

/** The operation behind a call: it gets the inputs of the call and returns the value from which the answer is made. */
type Binding<C> =
  C extends Call<infer K, infer I, infer V, infer _A, infer T>
    ? (
        context: EngineContext,
        caller: Principal,
        input: InputValues<I>,
        manner: CallManner,
      ) => K extends 'stream'
        ? ResultAsync<AsyncIterable<V | undefined>, ErrorsOf<T>>
        : K extends 'socket'
          ? ResultAsync<(socket: MessageSocket) => Promise<void>, ErrorsOf<T>>
          : ResultAsync<V, ErrorsOf<T>>
    : never;

/** Operations for the calls of one area, under the same names. */
export type Bindings<Calls> = { readonly [M in keyof Calls]: Binding<Calls[M]> };

/** A binding as the engine keeps it, when the call is known only by name. */
export type AnyBinding = (
  context: EngineContext,
  caller: Principal,
  input: Readonly<Record<string, unknown>>,
  manner: CallManner,
) => ResultAsync<unknown, { readonly type: ErrorTag }>;
