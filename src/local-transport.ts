import { err, ok, type Result } from 'neverthrow';
import { mayCall } from './access/call-access.js';
import type { Principal } from './access/principal.js';
import type { CallInput } from './api/answers.js';
import type { NamedCall } from './api/index.js';
import { type MessageSocket, socketRefusal } from './api/message-socket.js';
import { boundCalls, type PerformCall } from './bound-calls.js';
import type { TaggedError, Transport, TransportOptions } from './client/client.js';
import { aborted } from './client/client-error.js';
import { SignalboxError } from './client/or-throw.js';
import { socketPair } from './client/socket-pair.js';
import type { EngineContext } from './operations/context/engine-context.js';
import type { CallManner } from './operations/operation.js';
import type { Waiting } from './operations/waiting/blocking-query.js';

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

/** As over a network: a caller that cannot have the right is refused before its inputs are checked. */
function mayAsk({ call }: NamedCall, caller: Principal, input: CallInput): boolean {
  if (call.methods[0] === 'GET' && caller.node === undefined) return true;
  const [first] = call.args;
  const workspace = call.path.startsWith('/workspaces/{') && first !== undefined ? input[first] : undefined;
  return mayCall(call.access, caller, {
    namespace: textOrAbsent(input['namespace']),
    workspace: textOrAbsent(workspace),
  });
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
