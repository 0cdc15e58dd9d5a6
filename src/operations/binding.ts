import type { ResultAsync } from 'neverthrow';
import type { Principal } from '../access/principal.js';
import type { Call } from '../api/call.js';
import type { ErrorOf, ErrorTag } from '../api/errors.js';
import type { InputValues } from '../api/inputs.js';
import type { MessageSocket } from '../api/message-socket.js';
import type { FieldFault } from '../notifications/errors.js';
import type { EngineContext } from './context/engine-context.js';
import type { Waiting } from './waiting/blocking-query.js';

/** The context of a call, in addition to its inputs. */
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
  /** Aborts when the caller disconnects. Only streams and sockets last long enough to need it. */
  readonly signal: AbortSignal;
}

type ErrorsOf<T extends ErrorTag> = ErrorOf<T | 'permission_denied' | 'storage_failed' | 'unknown_region'>;

/** The operation behind a call: it gets the inputs and returns the value of the answer. */
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

/** Operations for the calls of one area, by call name. */
export type Bindings<Calls> = { readonly [M in keyof Calls]: Binding<Calls[M]> };

/** A binding without its types, for calls by name. */
export type AnyBinding = (
  context: EngineContext,
  caller: Principal,
  input: Readonly<Record<string, unknown>>,
  manner: CallManner,
) => ResultAsync<unknown, { readonly type: ErrorTag }>;
